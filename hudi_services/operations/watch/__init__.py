"""The watcher: follows the timelines of all tables of a registry, and fills a store that pages and triggers read.

Nobody who shows tables has to list a lake then, and whoever waits for a commit sees those of Hudi's writers, too.
"""
