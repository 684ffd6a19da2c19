"""Reports of the decisions about a model, and checks that the compiled code keeps its promise."""
