"""The checks of the data of a load, as `expect` of its source declares them: before anything is written."""
