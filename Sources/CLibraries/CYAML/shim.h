// libyaml as it is.
#pragma once
#include <yaml.h>
