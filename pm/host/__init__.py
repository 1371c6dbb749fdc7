"""The core, its interpreter, its extras."""
