// The server side of a sign-in page that asks Tidemark before it verifies a password.
//
// Usage: node sign_in.mjs < tries
//
// Each line of the input is one attempt, "ADDRESS PASSWORD [DEVICE]". Each line of the output is what
// the page would show. TIDEMARK_URL is the address of Tidemark, and TIDEMARK_API_TOKEN is an API token.
// DEVICE is the value of a signed cookie that the page set after an earlier success.
//
// A wrong password, a locked account and an unknown account get the same answer after the same time.
import { randomBytes, scryptSync, timingSafeEqual } from "node:crypto";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

const url = process.env.TIDEMARK_URL ?? "http://127.0.0.1:8080";
const token = process.env.TIDEMARK_API_TOKEN ?? "";
const passwordEntry = { journey: "SIGN_IN", count_type: "ERROR_COUNT", classifier: "PASSWORD_ENTRY" };

const welcome = "Welcome.";
const refused = "That did not work. Wait a while before you try again, or reset your password.";
const later = "We cannot sign you in at the moment. Try again later.";
// No answer comes sooner, so the time reveals nothing.
const leastMilliseconds = 250;

const hashOf = (password, salt) => scryptSync(password, salt, 64, { N: 2 ** 12, r: 8, p: 1 });

function person(subject, password) {
  const salt = randomBytes(16);
  return { subject, salt, hash: hashOf(password, salt) };
}

// A real page has a database instead.
const people = new Map([
  ["ann@example.com", person("ann", "north-sea")],
  ["ben@example.com", person("ben", "dogger")],
]);
// Used if there is no account, so that the verification takes as long.
const nobody = person(null, randomBytes(16).toString("hex"));

// Throws if Tidemark does not answer or cannot decide. An exception is never a permission.
async function call(path, body) {
  const answer = await fetch(url + path, {
    method: "POST",
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(5000),
  });
  if (!answer.ok) throw new Error(`${path.split("/").at(-1)}: ${answer.status}`);
  return answer.json();
}

const isRight = (account, password) =>
  timingSafeEqual(hashOf(password, account.salt), account.hash);

// A real page sends a mail. Only the owner of the account is told about the lock.
const tellOwner = (account, lock) =>
  console.error(`mail to ${account.subject}: locked until ${lock.until}`);

async function verifyPassword(address, password, device) {
  // Attempts without an account are counted too, under the hash of the address. So the calls are the
  // same for everybody, and a lock does not reveal whether an account exists.
  const standIn = (await call("/api/v1/subjects/identify", { email: address })).id;
  const account = people.get(address.toLowerCase());
  const subject = encodeURIComponent(account ? account.subject : standIn);
  const attempt = { ...passwordEntry, attempt_id: randomBytes(16).toString("hex"), device };

  const slot = await call(`/api/v1/subjects/${subject}/attempts/reserve`, attempt);
  const right = isRight(account ?? nobody, password) && account !== undefined;
  // Without a slot the result of the verification is ignored.
  if (slot.verdict !== "permitted") return false;
  const after = await call(`/api/v1/subjects/${subject}/attempts/settle`, { ...attempt, right });
  if (account && after.just_reached) tellOwner(account, after.lock);
  // Use the answer of Tidemark: if a right password was settled too late, it counts as wrong.
  return after.right;
}

async function signIn(address, password, device = "") {
  const until = performance.now() + leastMilliseconds;
  let answer;
  try {
    answer = (await verifyPassword(address, password, device)) ? welcome : refused;
  } catch (error) {
    console.error(error.message);
    answer = later;
  }
  await sleep(Math.max(0, until - performance.now()));
  return answer;
}

for await (const line of createInterface({ input: process.stdin })) {
  console.log(await signIn(...line.split(" ")));
}
