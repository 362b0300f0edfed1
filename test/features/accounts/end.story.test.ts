import { beforeAll, describe, expect, it } from 'vitest';
import { hex } from '#core/encoding.ts';
import { changeActs, isLedBy, prepareOnEvents } from '../../support/fixtures/acts.ts';
import { dumpTable, listTables } from '../../support/fixtures/database-dump.ts';
import { newKey } from '../../support/people/agent.ts';
import { consumer, received } from '../../support/people/consumer.ts';
import { OPERATOR_SECRET, openStaff } from '../../support/people/staff.ts';
import { verifyAddress } from '../../support/servers/mail.ts';
import { type Merchant, World } from '../../support/world.ts';

const w = new World({ ALLOW_INSECURE_WEBHOOKS: 'true', OPERATOR_SECRET });
const end = async ({ token }: Merchant) => expect((await w.call('DELETE', '/v1/account/account', { key: token })).status).toBe(200);
const readRows = async (table: string, { userId }: Merchant, columns = '*') =>
  (await w.env.DB.prepare(`SELECT ${columns} FROM ${table} WHERE merchant_id = ?`).bind(userId).all()).results;
const deliverEvents = async () => {
  await w.deliver();
  await w.attempt();
};

describe('webhooks of a deleted account', () => {
  it('deletion cancels pending deliveries and sends no later event, and a payment in flight is still confirmed', async () => {
    const ada = await w.merchant();
    const hook = await consumer(w, ada, 'ok', { description: 'Ada’s server' });
    const failing = await consumer(w, ada, 'fail');
    const product = await w.product(ada);
    const [paid, late] = [await w.connect(product), await w.connect(product)];
    await deliverEvents();
    const heard = (await received(hook)).length;
    expect(heard).toBeGreaterThan(0);
    await w.confirm(paid.payment_id, await w.chain.pay(await w.chain.wallet(), paid));
    await w.deliver();
    expect(w.attempts.length).toBeGreaterThan(0);
    await end(ada);
    await w.attempt();
    const confirmed = await w.confirm(late.payment_id, await w.chain.pay(await w.chain.wallet(), late));
    expect(confirmed.body.payment.status).toBe('CONFIRMED');
    expect(confirmed.body.receipt_id).toEqual(expect.any(String));
    await deliverEvents();
    await w.sweep();
    await deliverEvents();
    expect(await w.eventTypes(late.payment_id)).toContain('payment.confirmed');
    expect((await received(hook)).length).toBe(heard);
    const tried = (await received(failing)).length;
    // The first endpoint heard of the second one, too.
    expect(tried).toBe(heard - 1);
    const deliveries = await readRows('webhook_deliveries', ada, 'status, next_attempt_at');
    expect(deliveries.filter(({ status }) => ['pending', 'retrying'].includes(status as string))).toEqual([]);
    for (const row of await readRows('webhook_endpoints', ada))
      expect(row).toMatchObject({ status: 'disabled', disabled_reason: 'account_deleted', url: '', description: null });
  });

  it('an endpoint that is saved at the moment of deletion receives nothing either', async () => {
    const ada = await w.merchant();
    const hook = await consumer(w, ada, 'ok');
    const { url } = (await readRows('webhook_endpoints', ada))[0]!;
    const payment = await w.connect(await w.product(ada));
    await deliverEvents();
    const heard = (await received(hook)).length;
    await end(ada);
    await w.env.DB.prepare("UPDATE webhook_endpoints SET status = 'enabled', url = ? WHERE id = ?").bind(url, hook.id).run();
    await w.confirm(payment.payment_id, await w.chain.pay(await w.chain.wallet(), payment));
    await deliverEvents();
    expect((await received(hook)).length).toBe(heard);
    await w.sweep();
    expect((await readRows('webhook_endpoints', ada))[0]).toMatchObject({ status: 'disabled', url: '' });
  });
});

describe('personal data of a deleted account', () => {
  let ada: Merchant;
  let product: { product_id: string; slug: string };
  let handoff: string;
  let used: { token: string; paymentId: string };
  const NAMES = /lovelace|ada-s\.example/i;
  const TABLES = ['api_keys', 'access_apps', 'rail_settings', 'webhook_endpoints', 'products'];

  beforeAll(async () => {
    ada = await w.merchant();
    const key = ada.key;
    const make = (path: string, body: object) => w.call('POST', path, { key, headers: { 'Idempotency-Key': newKey() }, body });
    const app = { name: 'Lovelace Labs', homepage_url: 'https://ada-s.example.com' };
    const { access_app_id } = (await make('/v1/access/apps', app)).body;
    product = await w.product(ada, { access_app_id });
    await w.call('POST', '/v1/keys', { key: ada.token, body: { name: 'Lovelace laptop' } });
    await make('/v1/webhooks/endpoints', { url: 'https://hooks.ada-s.example.com/in', description: 'Lovelace' });
    await make('/v1/integrations/automation/hooks', { target_url: 'https://hooks.ada-s.example.com/zap', event_type: 'payment.confirmed' });
    const wallet = { key: ada.token, headers: { 'Idempotency-Key': newKey() }, body: { payout_wallet: ada.wallet.address } };
    expect((await w.call('PUT', '/v1/access/rail-settings/solana_usdc', wallet)).status).toBe(200);
    const hand = async () =>
      (await make(`/v1/products/${product.product_id}/handoffs`, { customer_ref: 'lovelace', email: 'buyer@lovelace.example' })).body
        .handoff_token;
    handoff = await hand();
    used = { token: await hand(), paymentId: '' };
    used.paymentId = (await w.connect(product, { handoff_token: used.token })).payment_id;
    const before = await Promise.all(['handoffs', ...TABLES].map((table) => readRows(table, ada)));
    expect(before.filter((rows) => NAMES.test(JSON.stringify(rows))).length).toBeGreaterThanOrEqual(4);
    await end(ada);
  });

  it('names, URLs, wallets and unused hand-offs are erased with the account', async () => {
    for (const table of TABLES) {
      const text = JSON.stringify(await readRows(table, ada));
      expect(text, table).not.toMatch(NAMES);
      expect(text, table).not.toContain(ada.wallet.address);
    }
    expect((await readRows('handoffs', ada)).map(({ payment_id }) => payment_id)).toEqual([used.paymentId]);
    expect(await readRows('payout_wallets', ada)).toEqual([]);
  });

  it('links disclose nothing: hand-offs are expired, and products are unknown', async () => {
    const path = `/v1/products/p/${product.slug}`;
    for (const token of [handoff, used.token]) {
      expect(await w.call('GET', `${path}/handoff/${token}`)).toMatchObject({ status: 410, body: { code: 'handoff_expired' } });
      expect(await w.call('POST', `${path}/connect`, { body: { handoff_token: token } })).toMatchObject({ status: 410 });
    }
    expect((await w.call('GET', `${path}/handoff/${handoff.slice(0, -4)}AAAA`)).status).toBe(403);
    for (const call of [
      () => w.call('GET', path),
      () => w.call('POST', `${path}/connect`, { body: {} }),
      () => w.call('POST', `${path}/identity`),
      () => w.call('GET', `/p/${product.slug}`),
    ])
      expect((await call()).status).toBe(404);
  });

  it('the sweep erases rows beyond the limit of one request', async () => {
    const eve = await w.merchant();
    const many = (table: string, columns: string, values: string) =>
      w.env.DB.prepare(
        `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900) INSERT INTO ${table} (${columns}) SELECT ${values} FROM n`,
      ).bind(eve.userId);
    const key = "hex(randomblob(8)), ?, 'Lovelace ' || i, hex(randomblob(8)), 'svc_live_', '[]', 1, 1, 1, '{}', 1";
    await w.env.DB.batch([
      many(
        'api_keys',
        'id, merchant_id, name, key_hash, key_prefix, permissions, livemode, created_at, revoked_at, created_by, version',
        key,
      ),
      many('access_apps', 'id, merchant_id, livemode, name, created_at', "hex(randomblob(8)), ?, 1, 'Lovelace ' || i, 1"),
    ]);
    await end(eve);
    const left = async () => (await Promise.all(['api_keys', 'access_apps'].map((table) => readRows(table, eve)))).flat();
    expect((await left()).filter(({ name }) => name !== '').length).toBe(2 * 900 + 2 - 2 * 200);
    const erasedAt = () => w.env.DB.prepare('SELECT erased_at FROM accounts WHERE id = ?').bind(eve.userId).first('erased_at');
    for (let i = 0; i < 4 && (await erasedAt()) === null; i++) await w.sweepAlone('erasures');
    expect((await left()).filter(({ name }) => name !== '')).toEqual([]);
    expect(await erasedAt()).toEqual(expect.any(Number));
  });

  it('events of more than two megabytes are erased in several runs', async () => {
    const ida = await w.merchant();
    const subject = 'Driftwood subject';
    for (let i = 0; i < 8; i++)
      expect((await w.call('POST', '/v1/support/tickets', { key: ida.key, body: { subject, body: 'Help' } })).status).toBe(200);
    const long = () => Array.from({ length: 4 }, () => hex.encode(crypto.getRandomValues(new Uint8Array(60_000)))).join('');
    for (const { seq } of (await readRows('acts', ida, 'seq')) as { seq: number }[])
      await changeActs(w.env.DB, 'seq = ? AND is_personal', [seq], ([event]) =>
        Object.assign(event!.data.object, { metadata: { long: long() } }),
      );
    const named = async () =>
      (await dumpTable(w.env.DB, 'acts', 'merchant_id = ?', ida.userId)).filter((row) => JSON.stringify(row).includes(subject));
    expect(await named()).toHaveLength(8);
    await end(ida);
    const erasedAt = () => w.env.DB.prepare('SELECT erased_at FROM accounts WHERE id = ?').bind(ida.userId).first('erased_at');
    for (let i = 0; i < 12 && (await erasedAt()) === null; i++) await w.sweepAlone('erasures');
    expect([await named(), await erasedAt()]).toEqual([[], expect.any(Number)]);
    // No real event is that long.
    await w.env.DB.prepare('DELETE FROM acts WHERE merchant_id = ?').bind(ida.userId).run();
  });

  it('texts of tickets and recipients of proofs are erased from all tables, also from events and stored answers', async () => {
    const [bea, staff] = [await w.merchant(), await openStaff(w)];
    await verifyAddress(w, bea);
    const [subject, question, answer, address] = ['Seaglass subject', 'Seaglass question', 'Seaglass answer', 'seaglass@buyer.example'];
    const made = async (path: string, body: object | undefined, key = bea.key) => {
      const answered = await w.call('POST', path, { key, headers: { 'Idempotency-Key': newKey() }, ...(body ? { body } : {}) });
      expect([path, answered.status]).toEqual([path, 200]);
      return answered.body;
    };
    for (const key of [bea.key, bea.sandboxKey]) {
      const { ticket_id } = await made('/v1/support/tickets', { subject, body: question }, key);
      await made(`/v1/support/tickets/${ticket_id}/message`, { body: question }, key);
      if (key === bea.sandboxKey) continue;
      const path = `/v1/support/tickets/${ticket_id}`;
      expect((await w.call('POST', `${path}/message`, { key: staff.token, body: { body: answer } })).status).toBe(200);
      expect((await w.call('POST', `${path}/resolve`, { key: staff.token })).status).toBe(200);
      await made(`${path}/close`, undefined);
    }
    const { payment } = await w.purchase(await w.product(bea), await w.chain.wallet());
    const receiptId = (await w.call('GET', `/v1/payments/${payment.payment_id}`, { key: bea.key })).body.receipt_id;
    await w.env.DB.prepare('UPDATE receipts SET livemode = 0 WHERE id = ?').bind(receiptId).run();
    await made(`/v1/receipt/${receiptId}/send-proof`, { email: address }, bea.sandboxKey);
    const found = async (needle: string) => {
      const tables = await listTables(w.env.DB);
      const dumps = await Promise.all(tables.map(async (table) => ({ table, rows: await dumpTable(w.env.DB, table) })));
      return dumps.flatMap(({ table, rows }) => (JSON.stringify(rows).includes(needle) ? [table] : []));
    };
    const needles = [subject, question, answer, address];
    for (const needle of needles) expect(await found(needle), needle).toContain('acts');
    expect(await found(question)).toContain('claims');
    await end(bea);
    for (const needle of needles) expect([needle, await found(needle)]).toEqual([needle, []]);
  });

  it('the sweep erases events and stored answers beyond the limit of one request', async () => {
    const cleo = await w.merchant();
    const { body } = await w.call('POST', '/v1/support/tickets', { key: cleo.key, body: { subject: 'Driftwood', body: 'Driftwood' } });
    await w.env.DB.batch([
      w.env.DB.prepare(
        `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900)
          INSERT INTO acts (id, merchant_id, livemode, rare_type, types, body, is_personal, request_id, created_at, fanned_out_at)
          SELECT printf('evt_%025d', i), merchant_id, livemode, rare_type, types, body, is_personal, request_id, created_at, 1
          FROM acts, n WHERE ${isLedBy(body.ticket_id)}`,
      ),
      w.env.DB.prepare(
        `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900)
          INSERT INTO claims (scope, key, fingerprint, status, body, fence, expires_at)
          SELECT ?, 'drift-' || i, '', 200, 'Driftwood', i, 9e15 FROM n`,
      ).bind(`${cleo.userId}:live:POST /v1/support/tickets`),
    ]);
    await end(cleo);
    const left = () =>
      prepareOnEvents(
        w.env.DB,
        `SELECT (SELECT count(*) FROM events WHERE merchant_id = ?1 AND data LIKE '%Driftwood%')
          + (SELECT count(*) FROM claims WHERE scope LIKE ?2) AS n`,
      )
        .bind(cleo.userId, `${cleo.userId}%`)
        .first<number>('n');
    expect(await left()).toBe(901 + 900 - 2 * 200);
    for (let i = 0; i < 4 && (await left())! > 0; i++) await w.sweepAlone('erasures');
    expect(await left()).toBe(0);
  });
});
