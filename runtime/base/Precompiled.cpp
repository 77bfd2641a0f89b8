// Stands for the precompiled headers of the libraries.
