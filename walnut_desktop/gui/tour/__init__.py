"""The tour: the app's main job, done through its real window, step by step."""
