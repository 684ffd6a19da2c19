"""A network as a picture: its operators, their groups, the layout, and the SVG."""
