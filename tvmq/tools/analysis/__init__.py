"""Reports on the decisions about a model, and checks of the compiled code against the definition."""
