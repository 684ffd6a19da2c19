"""What was decided about a model, and whether the compiled code keeps its promise."""
