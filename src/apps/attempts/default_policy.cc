// The policy of the spec, as a policy file.
#include "apps/attempts/policy.h"
#include "base/check.h"

namespace tidemark::attempts {

namespace {

constexpr std::string_view kDefaultPolicy = R"json({
"journeys": ["SIGN_IN", "REAUTHENTICATION", "ACCOUNT_CREATION", "PASSWORD_RESET",
             "PASSWORD_RESET_MFA", "ACCOUNT_RECOVERY", "ACCOUNT_MANAGEMENT", "SESSION", "SOURCE"],
"counts": ["ERROR_COUNT", "CODE_REQUEST_COUNT", "RETRY_COUNT", "PASSWORD_RESET_COUNT"],
"classifiers": ["GENERAL", "PASSWORD_ENTRY", "EMAIL_ENTRY", "EMAIL_CODE_ENTRY", "MFA_CODE_ENTRY",
                "CODE_ENTRY", "EMAIL_CODE", "MFA_CODE", "PASSWORD_RESET", "EMAIL_CODE_REQUEST",
                "MFA_CODE_REQUEST", "VERIFY_EMAIL", "VERIFY_PHONE_NUMBER", "MFA_SMS",
                "RESET_PASSWORD", "RESET_PASSWORD_WITH_CODE",
                "VERIFY_CHANGE_HOW_GET_SECURITY_CODES"],
"method_types": ["AUTH_APP", "EMAIL", "PASSKEY", "SMS", "VOICE"],
"aliases": {"LOGIN": "SIGN_IN", "REGISTRATION": "ACCOUNT_CREATION"},
"lock_seconds": {"STANDARD": 900, "REDUCED": 300},
"ceiling": 100,
"verification_seconds": 60,
"states": {"BLOCKED": [], "SUSPENDED": [],
           "RESET_PASSWORD": ["PASSWORD_RESET", "PASSWORD_RESET_MFA"], "REPROVE_IDENTITY": ["*"]},
"rules": [
{"journey": "SIGN_IN", "count": "ERROR_COUNT", "classifier": "PASSWORD_ENTRY",
 "lock_classifier": "PASSWORD_RESET", "space": 100000000},
{"journey": "SIGN_IN", "count": "ERROR_COUNT", "classifier": "MFA_CODE_ENTRY",
 "total_limit": 11, "clears": ["MFA_CODE_ENTRY"], "space": 1000000},
{"journey": "SIGN_IN", "count": "CODE_REQUEST_COUNT", "classifier": "MFA_CODE",
 "lock_classifier": "MFA_CODE_REQUEST"},

{"journey": "REAUTHENTICATION", "count": "ERROR_COUNT", "classifier": "EMAIL_ENTRY",
 "life": 3600, "on_limit": "hold"},
{"journey": "REAUTHENTICATION", "count": "ERROR_COUNT", "classifier": "PASSWORD_ENTRY",
 "life": 3600, "on_limit": "hold", "space": 100000000},
{"journey": "REAUTHENTICATION", "count": "ERROR_COUNT", "classifier": "MFA_CODE_ENTRY",
 "life": 3600, "on_limit": "hold", "total_limit": 6, "space": 1000000},
{"journey": "REAUTHENTICATION", "count": "CODE_REQUEST_COUNT", "classifier": "MFA_CODE",
 "on_limit": "reset"},

{"journey": "ACCOUNT_CREATION", "count": "ERROR_COUNT", "classifier": "EMAIL_CODE_ENTRY",
 "life": 3600, "on_limit": "reset", "clears": ["EMAIL_CODE_ENTRY"]},
{"journey": "ACCOUNT_CREATION", "count": "ERROR_COUNT", "classifier": "MFA_CODE_ENTRY",
 "lock": "REDUCED", "clears": ["MFA_CODE_ENTRY"]},
{"journey": "ACCOUNT_CREATION", "count": "ERROR_COUNT", "classifier": "MFA_CODE_ENTRY",
 "method_type": "AUTH_APP", "limit": 999999, "lock": "REDUCED", "clears": ["MFA_CODE_ENTRY"]},
{"journey": "ACCOUNT_CREATION", "count": "CODE_REQUEST_COUNT", "classifier": "EMAIL_CODE",
 "lock_classifier": "EMAIL_CODE_REQUEST"},
{"journey": "ACCOUNT_CREATION", "count": "CODE_REQUEST_COUNT", "classifier": "MFA_CODE",
 "lock_classifier": "MFA_CODE_REQUEST"},

{"journey": "PASSWORD_RESET", "count": "ERROR_COUNT", "classifier": "CODE_ENTRY",
 "clears": ["CODE_ENTRY"],
 "lifts": ["SIGN_IN#LOCK#PASSWORD_RESET", "REAUTHENTICATION#LOCK#PASSWORD_ENTRY",
           "ACCOUNT_MANAGEMENT#LOCK#PASSWORD_ENTRY", "ACCOUNT_RECOVERY#LOCK#EMAIL_CODE_ENTRY"],
 "space": 1000000},
{"journey": "PASSWORD_RESET", "count": "CODE_REQUEST_COUNT", "classifier": "EMAIL_CODE",
 "lock_classifier": "EMAIL_CODE_REQUEST"},

{"journey": "PASSWORD_RESET_MFA", "count": "ERROR_COUNT", "classifier": "MFA_CODE_ENTRY",
 "total_limit": 11, "clears": ["MFA_CODE_ENTRY"], "space": 1000000},
{"journey": "PASSWORD_RESET_MFA", "count": "CODE_REQUEST_COUNT", "classifier": "MFA_CODE",
 "lock_classifier": "MFA_CODE_REQUEST"},

{"journey": "ACCOUNT_RECOVERY", "count": "ERROR_COUNT", "classifier": "EMAIL_CODE_ENTRY",
 "clears": ["EMAIL_CODE_ENTRY"], "space": 1000000},
{"journey": "ACCOUNT_RECOVERY", "count": "ERROR_COUNT", "classifier": "MFA_CODE_ENTRY",
 "lock": "REDUCED", "clears": ["MFA_CODE_ENTRY"],
 "lifts": ["SIGN_IN#LOCK#MFA_CODE_ENTRY", "REAUTHENTICATION#LOCK#MFA_CODE_ENTRY",
           "ACCOUNT_MANAGEMENT#LOCK#MFA_CODE_ENTRY", "PASSWORD_RESET_MFA#LOCK#MFA_CODE_ENTRY",
           "PASSWORD_RESET#LOCK#CODE_ENTRY"]},
{"journey": "ACCOUNT_RECOVERY", "count": "ERROR_COUNT", "classifier": "MFA_CODE_ENTRY",
 "method_type": "AUTH_APP", "limit": 999999, "lock": "REDUCED", "clears": ["MFA_CODE_ENTRY"]},
{"journey": "ACCOUNT_RECOVERY", "count": "CODE_REQUEST_COUNT", "classifier": "EMAIL_CODE",
 "lock_classifier": "EMAIL_CODE_REQUEST"},
{"journey": "ACCOUNT_RECOVERY", "count": "CODE_REQUEST_COUNT", "classifier": "MFA_CODE",
 "lock_classifier": "MFA_CODE_REQUEST"},

{"journey": "ACCOUNT_MANAGEMENT", "count": "ERROR_COUNT", "classifier": "PASSWORD_ENTRY",
 "space": 100000000},
{"journey": "ACCOUNT_MANAGEMENT", "count": "ERROR_COUNT", "classifier": "EMAIL_CODE_ENTRY",
 "clears": ["EMAIL_CODE_ENTRY"], "space": 1000000},
{"journey": "ACCOUNT_MANAGEMENT", "count": "ERROR_COUNT", "classifier": "MFA_CODE_ENTRY",
 "clears": ["MFA_CODE_ENTRY"], "space": 1000000},
{"journey": "ACCOUNT_MANAGEMENT", "count": "CODE_REQUEST_COUNT", "classifier": "MFA_CODE",
 "lock_classifier": "MFA_CODE_REQUEST"},

{"journey": "SOURCE", "count": "ERROR_COUNT", "limit": 100},

{"journey": "SESSION", "count": "RETRY_COUNT", "life": 3600, "limit": 999999,
 "on_limit": "reset"},
{"journey": "SESSION", "count": "PASSWORD_RESET_COUNT", "life": 3600, "limit": 999999,
 "on_limit": "reset"},
{"journey": "SESSION", "count": "CODE_REQUEST_COUNT", "classifier": "EMAIL_CODE", "life": 3600,
 "limit": 999999, "on_limit": "reset"},
{"journey": "SESSION", "count": "CODE_REQUEST_COUNT", "classifier": "MFA_CODE", "life": 3600,
 "limit": 999999, "on_limit": "reset"}
]})json";

}  // namespace

std::string_view Policy::DefaultText() { return kDefaultPolicy; }

const Policy& Policy::Default() {
  static const Policy policy = [] {
    auto parsed = Parse(kDefaultPolicy);
    CHECK(parsed.has_value());
    return *std::move(parsed);
  }();
  return policy;
}

}  // namespace tidemark::attempts
