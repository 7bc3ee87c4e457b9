"""The watcher: follows the timelines of all tables of a registry, and fills a store that pages and triggers read.

The pages then need not list a lake, and triggers that wait for a commit see those of Hudi's writers, too.
"""
