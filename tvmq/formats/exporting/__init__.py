"""Parts shared by the exporters of integral cores."""
