/* Where plugins are looked for by bare file name, and what else lies there. */
#ifndef CCM_PLUGIN_DIR_H
#define CCM_PLUGIN_DIR_H

/*
 * `dir` unless it is NULL or "": then lib/ccmd/plugins beside the folder of the running program,
 * where `make install` puts the plugins (/usr/bin/ccmd -> /usr/lib/ccmd/plugins). A tool
 * of ccmd is in lib/ccmd itself. Heap; NULL when memory ran out or the program does not know its
 * own path. Any thread.
 */
char *daemon_plugin_dir(const char *dir);

/* What is installed in lib/ccmd under that name. Heap; NULL as above. Any thread. */
char *daemon_library_path(const char *name);

#endif
