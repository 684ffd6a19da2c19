"""tvmq inside of other tools: a backend of torch.compile, golden results for tests."""
