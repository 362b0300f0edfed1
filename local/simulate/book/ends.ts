import type { History } from './history.ts';
import type { Reader } from './reader.ts';

const SLACK_MS = 3 * 60_000;
/** A checkout is given up three minutes after its end at the earliest, by one of the next crons. */
const GIVEN_UP_MS = 8 * 60_000;

/** Rows that wait, by what they wait for. Rows of sandboxes are left out, because scenarios have clocks of their own. `?` is a time in the past. */
const WAITING: readonly [what: string, sql: string, slackMs?: number][] = [
  ['acts have no deliveries', 'SELECT count(*) AS n FROM acts WHERE livemode = 1 AND fanned_out_at IS NULL AND created_at < ?'],
  [
    'deliveries are overdue',
    "SELECT count(*) AS n FROM webhook_deliveries WHERE status IN ('pending', 'retrying') AND next_attempt_at < ?",
  ],
  [
    'payments wait past their end',
    "SELECT count(*) AS n FROM payments WHERE livemode = 1 AND status LIKE 'PENDING%' AND expires_at < ?",
    GIVEN_UP_MS,
  ],
  ['settlements are pending', "SELECT count(*) AS n FROM settlements WHERE livemode = 1 AND status = 'pending' AND created_at < ?"],
  ['settlements are overdue', "SELECT count(*) AS n FROM settlements WHERE livemode = 1 AND status <> 'settled' AND next_check_at < ?"],
  ['transactions are not checked', 'SELECT count(*) AS n FROM tx_claims WHERE livemode = 1 AND next_check_at < ?'],
  ['unmatched payments are not checked', 'SELECT count(*) AS n FROM unmatched_payments WHERE livemode = 1 AND next_check_at < ?'],
  ['candidates are not checked', 'SELECT count(*) AS n FROM payment_candidates WHERE livemode = 1 AND next_check_at < ?'],
  ['memberships are past their end', "SELECT count(*) AS n FROM memberships WHERE livemode = 1 AND status = 'active' AND paid_through < ?"],
  ['memberships are past their grace', "SELECT count(*) AS n FROM memberships WHERE livemode = 1 AND status = 'grace' AND grace_until < ?"],
  ['channels are not checked', 'SELECT count(*) AS n FROM metered_sessions WHERE livemode = 1 AND next_check_at < ?'],
  ['subscriptions are not checked', 'SELECT count(*) AS n FROM subscription_authorizations WHERE livemode = 1 AND next_check_at < ?'],
];

const LEASED: readonly [what: string, sql: string][] = [
  ['requests hold leases', 'SELECT count(*) AS n FROM claims WHERE status IS NULL AND lease_until > ?'],
  ['sweeps hold leases', 'SELECT count(*) AS n FROM sweeps WHERE lease_until > ?'],
  ['deliveries hold leases', 'SELECT count(*) AS n FROM webhook_deliveries WHERE lease_until > ?'],
];

/** Longest pause after which an object sends again what the database has not acknowledged. */
const REPEAT_MS = 11 * 60_000;

/** Judges that entitlements stop announcing what the database has stored. Faults may leave one last repetition. */
async function judgeAlarms(reader: Reader): Promise<void> {
  const { host } = reader;
  const listRepeating = () =>
    (host.alarms?.() ?? []).filter(({ target, at }) => target.startsWith('ENTITLEMENT') && at < host.now() + REPEAT_MS);
  if (listRepeating().length === 0) return;
  await host.advance(REPEAT_MS);
  await host.settle();
  const repeating = listRepeating().length;
  reader.expect(repeating === 0, () => `${repeating} alarms of entitlements repeat for ever`);
}

/** Judges that everything ends after the faults: no row waits, no lease lasts, no sweep goes on failing. */
export async function judgeEnds(reader: Reader): Promise<void> {
  const now = reader.host.now();
  for (const [what, sql, slackMs = SLACK_MS] of WAITING) {
    const count = await reader.count(sql, now - slackMs);
    reader.expect(count === 0, () => `${count} ${what}`);
  }
  for (const [what, sql] of LEASED) {
    const count = await reader.count(sql, now);
    reader.expect(count === 0, () => `${count} ${what} though nothing runs`);
  }
  await judgeAlarms(reader);
  const failing = (await reader.host.rows('SELECT name FROM sweeps WHERE failures > 0')) as { name: string }[];
  reader.expect(failing.length === 0, () => `sweeps go on failing: ${failing.map(({ name }) => name).join(', ')}`);
}

/** Attempts that had begun when the account was closed. */
const UNDER_WAY_MS = 20_000;

/** Judges that a closed account sells and sends nothing more, and that a payment under way was confirmed with a receipt that verifies. */
export async function judgeClosed(reader: Reader, history: History): Promise<void> {
  for (const { shop, slug, paymentId, signature, at } of history.closed) {
    const name = `the closed account of ${shop.name}`;
    const sold = await reader.host.call('GET', `/v1/products/p/${slug}`);
    reader.expect(sold.status === 404, () => `${name} still shows ${slug}: ${sold.status}`);
    const boxes = new Set(shop.endpoints.map(({ box }) => box));
    const late = history.received.filter(({ box, at: receivedAt }) => boxes.has(box) && receivedAt > at + UNDER_WAY_MS);
    reader.expect(late.length === 0, () => `${name} was sent ${late.length} webhooks after its end: ${late[0]?.body}`);
    if (signature === null) continue;
    const payment = await reader.get(`/v1/payments/${paymentId}`);
    const isConfirmed = payment?.status === 'CONFIRMED' && payment.tx_signature === signature;
    reader.expect(isConfirmed, () => `payment ${paymentId} to ${name} is ${payment?.status}, and was paid by ${signature}`);
    if (!isConfirmed) continue;
    const verified = await reader.get(`/v1/receipt/${payment.receipt_id}/verify`);
    reader.expect(verified?.valid === true, () => `receipt ${payment.receipt_id} of ${name} does not verify: ${JSON.stringify(verified)}`);
  }
}
