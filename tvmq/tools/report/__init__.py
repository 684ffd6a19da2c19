"""The page of `tvmq report`: facts about a quantized model, assembled and written as HTML."""
