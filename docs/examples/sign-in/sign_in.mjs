// A sign-in page's server side that asks Tidemark before it verifies a password.
//
// Usage: node sign_in.mjs < tries
//
// Each line of the input is one try, "ADDRESS PASSWORD [DEVICE]"; each line of the output is what the
// page would show. TIDEMARK_URL is where Tidemark is, TIDEMARK_API_TOKEN a token for it. The device is
// the value of a cookie that the page signed and gave out after an earlier success.
//
// Wrong, locked and unknown get the same answer after the same time.
import { randomBytes, scryptSync, timingSafeEqual } from "node:crypto";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

const url = process.env.TIDEMARK_URL ?? "http://127.0.0.1:8080";
const token = process.env.TIDEMARK_API_TOKEN ?? "";
const passwordEntry = { journey: "SIGN_IN", count_type: "ERROR_COUNT", classifier: "PASSWORD_ENTRY" };

const welcome = "Welcome.";
const refused = "That did not work. Wait a while before you try again, or reset your password.";
const later = "We cannot sign you in at the moment. Try again later.";
// No answer comes sooner, so that its time says nothing either.
const leastMilliseconds = 250;

const hashOf = (password, salt) => scryptSync(password, salt, 64, { N: 2 ** 12, r: 8, p: 1 });

function person(subject, password) {
  const salt = randomBytes(16);
  return { subject, salt, hash: hashOf(password, salt) };
}

// Stands for the page's own database.
const people = new Map([
  ["ann@example.com", person("ann", "north-sea")],
  ["ben@example.com", person("ben", "dogger")],
]);
// Verified against when there is nobody, to take as long.
const nobody = person(null, randomBytes(16).toString("hex"));

// Throws when Tidemark does not answer, or says that it cannot decide. Never a permission.
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

// Stands for a mail to the owner, who alone is told how long the lock holds.
const tellOwner = (account, lock) =>
  console.error(`mail to ${account.subject}: locked until ${lock.until}`);

async function verifyPassword(address, password, device) {
  // Somebody without an account is counted too, under the hash of the address: the same calls are
  // made for everybody, and a lock says nothing about who exists.
  const standIn = (await call("/api/v1/subjects/identify", { email: address })).id;
  const account = people.get(address.toLowerCase());
  const subject = encodeURIComponent(account ? account.subject : standIn);
  const attempt = { ...passwordEntry, attempt_id: randomBytes(16).toString("hex"), device };

  const slot = await call(`/api/v1/subjects/${subject}/attempts/reserve`, attempt);
  const right = isRight(account ?? nobody, password) && account !== undefined;
  // What was verified without a slot is thrown away.
  if (slot.verdict !== "permitted") return false;
  const after = await call(`/api/v1/subjects/${subject}/attempts/settle`, { ...attempt, right });
  if (account && after.just_reached) tellOwner(account, after.lock);
  // Tidemark's word counts: what was right and came too late is recorded as wrong.
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
