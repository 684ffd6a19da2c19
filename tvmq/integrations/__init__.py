"""tvmq inside of other tools: a backend of torch.compile."""
