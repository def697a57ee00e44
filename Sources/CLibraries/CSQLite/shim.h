// SQLite as it is.
#pragma once
#include <sqlite3.h>
