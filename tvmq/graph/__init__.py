"""The IR side of tvmq: own Relax operators, layer names, the ledger, and the one way in which passes rewrite a
module."""
