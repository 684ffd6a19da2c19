"""The page of `tvmq report`: what is known of a quantized model, put together, and written as HTML."""
