#include "base/output.h"
#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct {
  char *dir, *file;
} Place;

static Place
place_new (void)
{
  Place p;
  p.dir = g_dir_make_tmp ("test-output-XXXXXX", NULL);
  p.file = g_build_filename (p.dir, "out.json", NULL);
  return p;
}

static void
place_free (Place *p)
{
  g_autoptr (GDir) dir = g_dir_open (p->dir, 0, NULL);
  for (const char *name; dir != NULL && (name = g_dir_read_name (dir)) != NULL;) {
    g_autofree char *path = g_build_filename (p->dir, name, NULL);
    g_remove (path);
  }
  g_rmdir (p->dir);
  g_free (p->dir);
  g_free (p->file);
}

static unsigned
n_files (const Place *p)
{
  unsigned n = 0;
  g_autoptr (GDir) dir = g_dir_open (p->dir, 0, NULL);
  while (dir != NULL && g_dir_read_name (dir) != NULL)
    n++;
  return n;
}

static char *
contents (const char *path)
{
  char *text = NULL;
  return g_file_get_contents (path, &text, NULL, NULL) ? text : NULL;
}

static void
put (const char *path, const char *text)
{
  g_autoptr (GError) error = NULL;
  TEST_TRUE (base_output_file (path, text, strlen (text), &error));
  TEST_TRUE (error == NULL);
}

static void
fails (const char *path, BaseError code, const char *message)
{
  g_autoptr (GError) error = NULL;
  TEST_FALSE (base_output_file (path, "x", 1, &error));
  TEST_TRUE (g_error_matches (error, BASE_ERROR, (int)code));
  test_has (error != NULL ? error->message : "written", message, path, __FILE__, __LINE__);
}

static void
a_file_is_made_and_replaced_without_a_trace (void)
{
  Place p = place_new ();
  put (p.file, "one");
  put (p.file, "two");
  g_autofree char *text = contents (p.file);
  TEST_STR (text, "two");
  put (p.file, "");
  g_autofree char *empty = contents (p.file);
  TEST_STR (empty, "");
  TEST_INT (n_files (&p), 1);
  place_free (&p);
}

static void
a_name_without_folder_is_written_where_one_stands (void)
{
  Place p = place_new ();
  g_autofree char *before = g_get_current_dir ();
  TEST_INT (g_chdir (p.dir), 0);
  put ("out.json", "here");
  TEST_INT (g_chdir (before), 0);
  g_autofree char *text = contents (p.file);
  TEST_STR (text, "here");
  place_free (&p);
}

static void
a_new_file_has_the_umask_s_mode_and_an_old_one_keeps_its_own (void)
{
  Place p = place_new ();
  struct stat st;
  mode_t old = umask (027);
  put (p.file, "one");
  umask (old);
  TEST_TRUE (stat (p.file, &st) == 0 && (st.st_mode & 0777) == 0640); /* 0666 & ~027 */
  TEST_INT (chmod (p.file, 0604), 0);
  put (p.file, "two");
  TEST_TRUE (stat (p.file, &st) == 0 && (st.st_mode & 0777) == 0604);
  place_free (&p);
}

static void
a_symbolic_link_stays_and_what_it_points_to_is_replaced (void)
{
  Place p = place_new ();
  g_autofree char *link = g_build_filename (p.dir, "latest", NULL);
  g_autofree char *dangling = g_build_filename (p.dir, "next", NULL);
  put (p.file, "one");
  TEST_INT (symlink ("out.json", link), 0);
  put (link, "two");
  struct stat st;
  TEST_TRUE (lstat (link, &st) == 0 && S_ISLNK (st.st_mode));
  g_autofree char *text = contents (p.file);
  TEST_STR (text, "two");
  TEST_INT (symlink ("new.json", dangling), 0);
  put (dangling, "three");
  g_autofree char *target = g_build_filename (p.dir, "new.json", NULL);
  g_autofree char *made = contents (target);
  TEST_STR (made, "three");
  TEST_TRUE (lstat (dangling, &st) == 0 && S_ISLNK (st.st_mode));
  g_autofree char *loop = g_build_filename (p.dir, "loop", NULL);
  TEST_INT (symlink ("loop", loop), 0);
  fails (loop, BASE_ERROR_INPUT, "cannot write '");
  place_free (&p);
}

static void
a_wrong_path_is_the_users_error (void)
{
  Place p = place_new ();
  fails ("", BASE_ERROR_INPUT, "empty path");
  fails (p.dir, BASE_ERROR_INPUT, ": is a folder; name a file");
  g_autofree char *slash = g_strconcat (p.file, "/", NULL);
  fails (slash, BASE_ERROR_INPUT, ": is a folder; name a file");
  g_autofree char *nowhere = g_build_filename (p.dir, "none", "out.json", NULL);
  fails (nowhere, BASE_ERROR_INPUT, "out.json': no such folder");
  put (p.file, "one");
  g_autofree char *below = g_build_filename (p.file, "x", NULL);
  fails (below, BASE_ERROR_INPUT, "cannot write '");
  g_autofree char *fill = g_strnfill (300, 'x');
  g_autofree char *lengthy = g_build_filename (p.dir, fill, NULL);
  fails (lengthy, BASE_ERROR_INPUT, "cannot write '");
  TEST_INT (n_files (&p), 1);
  place_free (&p);
}

static void
a_full_device_is_the_runs_error (void)
{
  if (access ("/dev/full", W_OK) == 0)
    fails ("/dev/full", BASE_ERROR_RUN, "cannot write '/dev/full': No space left on device");
  put ("/dev/null", "gone");
}

/* A limit on the size of files stands in for a full disk: the write fails half-way, with text already in the temporary file. */
static void
a_write_that_fails_half_way_leaves_the_old_file_whole (void)
{
  Place p = place_new ();
  put (p.file, "one");
  struct rlimit old;
  TEST_INT (getrlimit (RLIMIT_FSIZE, &old), 0);
  struct rlimit small = { .rlim_cur = 4096, .rlim_max = old.rlim_max };
  g_autofree char *text = g_strnfill (100000, 'x');
  g_autoptr (GError) error = NULL;
  void (*handler) (int) = signal (SIGXFSZ, SIG_IGN);
  TEST_INT (setrlimit (RLIMIT_FSIZE, &small), 0);
  TEST_FALSE (base_output_file (p.file, text, 100000, &error));
  TEST_INT (setrlimit (RLIMIT_FSIZE, &old), 0);
  signal (SIGXFSZ, handler);
  TEST_TRUE (g_error_matches (error, BASE_ERROR, BASE_ERROR_RUN));
  TEST_HAS (error->message, "File too large");
  g_autofree char *kept = contents (p.file);
  TEST_STR (kept, "one");
  TEST_INT (n_files (&p), 1);
  place_free (&p);
}

/* Runs with standard output on `fd`, and puts the old one back. */
static gboolean
to_stdout (int fd, const char *text, gboolean *closed, GError **error)
{
  fflush (stdout);
  int saved = dup (STDOUT_FILENO);
  dup2 (fd, STDOUT_FILENO);
  gboolean ok = base_output_stdout (text, strlen (text), closed, error);
  dup2 (saved, STDOUT_FILENO);
  close (saved);
  return ok;
}

/* A reader that is slow, on a pipe that somebody made non-blocking: all arrives. A pipe holds 64 KiB. */
static void *
read_slowly (void *data)
{
  int fd = *(int *)data;
  gsize n_B = 0;
  char chunk[1000];
  for (ssize_t n; (n = read (fd, chunk, sizeof chunk)) > 0;)
    n_B += (gsize)n;
  return GSIZE_TO_POINTER (n_B);
}

static void
a_slow_reader_gets_all (void)
{
  int ends[2];
  TEST_INT (pipe (ends), 0);
  TEST_INT (fcntl (ends[1], F_SETFL, O_NONBLOCK), 0);
  GThread *thread = g_thread_new ("reader", read_slowly, &ends[0]);
  g_autofree char *text = g_strnfill (1000000, 'x');
  gboolean closed = TRUE;
  TEST_TRUE (to_stdout (ends[1], text, &closed, NULL));
  close (ends[1]);
  TEST_INT (GPOINTER_TO_SIZE (g_thread_join (thread)), 1000000);
  TEST_FALSE (closed);
  close (ends[0]);
}

/* Permissions bind others than root only. */
static void
what_may_not_be_written_stays_whole (void)
{
  Place p = place_new ();
  put (p.file, "one");
  if (geteuid () != 0) {
    TEST_INT (chmod (p.file, 0444), 0);
    fails (p.file, BASE_ERROR_RUN, "Permission denied");
    TEST_INT (chmod (p.file, 0644), 0);
    TEST_INT (chmod (p.dir, 0555), 0);
    fails (p.file, BASE_ERROR_RUN, "Permission denied");
    TEST_INT (chmod (p.dir, 0755), 0);
  }
  g_autofree char *text = contents (p.file);
  TEST_STR (text, "one");
  TEST_INT (n_files (&p), 1);
  place_free (&p);
}

/* Another run's unfinished file is left alone. */
static void
what_other_runs_left_behind_is_not_in_the_way (void)
{
  Place p = place_new ();
  for (unsigned i = 0; i < 100; i++) { /* all names that were tried once */
    g_autofree char *name = g_strdup_printf (".forerun-%u.tmp", i), *other = g_build_filename (p.dir, name, NULL);
    TEST_TRUE (g_file_set_contents (other, "theirs", -1, NULL));
  }
  put (p.file, "mine");
  g_autofree char *mine = contents (p.file), *other = g_build_filename (p.dir, ".forerun-7.tmp", NULL), *theirs = contents (other);
  TEST_STR (mine, "mine");
  TEST_STR (theirs, "theirs");
  TEST_INT (n_files (&p), 101);
  place_free (&p);
}

/* Ends a writer by SIGTERM as soon as its temporary file is there. */
static void
end_a_writer (const Place *p, const char *text, gsize n_B)
{
  pid_t child = fork ();
  if (child == 0) {
    signal (SIGTERM, SIG_DFL);
    _exit (base_output_file (p->file, text, n_B, NULL) ? 0 : 1);
  }
  int status = 0;
  while (n_files (p) == 0 && waitpid (child, &status, WNOHANG) == 0)
    g_usleep (500);
  (void)kill (child, SIGTERM);
  (void)waitpid (child, &status, 0);
}

static void
a_signal_leaves_no_temporary (void)
{
  const gsize n_B = 32 << 20;
  g_autofree char *text = g_malloc0 (n_B);
  for (int i = 0; i < 5; i++) {
    Place p = place_new ();
    end_a_writer (&p, text, n_B);
    struct stat st;
    TEST_INT (n_files (&p), stat (p.file, &st) == 0 ? 1 : 0); /* whole, or nothing */
    if (stat (p.file, &st) == 0)
      TEST_INT ((gint64)st.st_size, (gint64)n_B);
    place_free (&p);
  }
}

static void
one_file_is_known_by_all_its_names (void)
{
  Place p = place_new ();
  g_autofree char *link = g_build_filename (p.dir, "link", NULL), *hard = g_build_filename (p.dir, "hard", NULL),
                  *dotted = g_build_filename (p.dir, ".", "out.json", NULL), *other = g_build_filename (p.dir, "other", NULL);
  TEST_INT (symlink ("out.json", link), 0);
  TEST_TRUE (base_output_same (p.file, dotted)); /* not there yet */
  TEST_TRUE (base_output_same (p.file, link));
  TEST_FALSE (base_output_same (p.file, other));
  put (p.file, "one");
  TEST_FALSE (base_output_same (p.file, other));
  put (other, "two");
  TEST_INT (linkat (AT_FDCWD, p.file, AT_FDCWD, hard, 0), 0);
  TEST_TRUE (base_output_same (p.file, dotted));
  TEST_TRUE (base_output_same (link, dotted));
  TEST_TRUE (base_output_same (p.file, hard));
  TEST_FALSE (base_output_same (p.file, other));
  TEST_TRUE (base_output_same ("/nowhere/a/../b", "/nowhere/b"));
  place_free (&p);
}

static void
standard_output_tells_a_closed_pipe_from_a_full_disk (void)
{
  gboolean closed = TRUE;
  int ends[2];
  TEST_INT (pipe (ends), 0);
  TEST_TRUE (to_stdout (ends[1], "hello", &closed, NULL));
  TEST_FALSE (closed);
  char got[8] = "";
  TEST_INT (read (ends[0], got, sizeof got - 1), 5);
  TEST_STR (got, "hello");

  close (ends[0]); /* `forerun … | head` */
  TEST_TRUE (to_stdout (ends[1], "hello", &closed, NULL));
  TEST_TRUE (closed);
  close (ends[1]);

  int full = open ("/dev/full", O_WRONLY);
  if (full >= 0) {
    g_autoptr (GError) error = NULL;
    TEST_FALSE (to_stdout (full, "hello", &closed, &error));
    TEST_TRUE (g_error_matches (error, BASE_ERROR, BASE_ERROR_RUN));
    TEST_HAS (error->message, "cannot write to standard output: ");
    close (full);
  }
}

int
main (void)
{
  static const TestCase cases[] = {
    { "a file is made and replaced without a trace", a_file_is_made_and_replaced_without_a_trace },
    { "a name without folder is written where one stands", a_name_without_folder_is_written_where_one_stands },
    { "a new file has the umask's mode, and an old one keeps its own",
      a_new_file_has_the_umask_s_mode_and_an_old_one_keeps_its_own },
    { "a symbolic link stays, and what it points to is replaced", a_symbolic_link_stays_and_what_it_points_to_is_replaced },
    { "a wrong path is the user's error", a_wrong_path_is_the_users_error },
    { "a full device is the run's error", a_full_device_is_the_runs_error },
    { "a write that fails half-way leaves the old file whole", a_write_that_fails_half_way_leaves_the_old_file_whole },
    { "a slow reader gets all", a_slow_reader_gets_all },
    { "what may not be written stays whole", what_may_not_be_written_stays_whole },
    { "what other runs left behind is not in the way", what_other_runs_left_behind_is_not_in_the_way },
    { "a signal leaves no temporary", a_signal_leaves_no_temporary },
    { "one file is known by all its names", one_file_is_known_by_all_its_names },
    { "standard output tells a closed pipe from a full disk", standard_output_tells_a_closed_pipe_from_a_full_disk },
    { 0 },
  };
  signal (SIGPIPE, SIG_IGN); /* as the command line does */
  return test_main ("base/output", cases);
}
