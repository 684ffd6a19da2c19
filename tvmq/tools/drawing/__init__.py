"""A network as a picture: what its operators are, how they are grouped, where each stands, and the SVG of it."""
