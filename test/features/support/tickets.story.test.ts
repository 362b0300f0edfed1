import { beforeAll, describe, expect, it } from 'vitest';
import { DAY } from '#core/time.ts';
import { prepareOnEvents } from '../../support/fixtures/acts.ts';
import { OPERATOR_SECRET, openStaff } from '../../support/people/staff.ts';
import { testEnv } from '../../support/runner/env.ts';
import { type Merchant, World } from '../../support/world.ts';

// biome-ignore lint/suspicious/noExplicitAny: call() has already checked answers against the document.
type Body = any;

describe('support tickets', () => {
  const w = new World({ OPERATOR_SECRET });
  let ada: Merchant;
  let staff: Merchant;
  const ask = (body: object, key: string | null = ada.key) => w.call('POST', '/v1/support/tickets', { key, body });
  const opened = async (body: object = {}, key = ada.key): Promise<string> =>
    (await ask({ subject: 'A question', body: 'How does it work?', ...body }, key)).body.ticket_id;
  const thread = (id: string, key: string | null = ada.key) => w.call('GET', `/v1/support/tickets/${id}`, { key });
  const write = (id: string, body: string, key = ada.key) => w.call('POST', `/v1/support/tickets/${id}/message`, { key, body: { body } });
  const move = (id: string, how: 'close' | 'resolve', key: string) => w.call('POST', `/v1/support/tickets/${id}/${how}`, { key });
  const list = (query = '', key = ada.key) => w.call('GET', `/v1/support/tickets${query}`, { key });
  const readEvents = async (id: string): Promise<Body[]> => {
    const { results } = await prepareOnEvents(testEnv.DB, 'SELECT type, data FROM events WHERE subject_id = ? ORDER BY seq')
      .bind(id)
      .all<Body>();
    return results.map(({ type, data }) => ({ type, ...JSON.parse(data) }));
  };

  beforeAll(async () => {
    ada = await w.merchant();
    staff = await openStaff(w);
  });

  it('a created ticket returns its text unchanged', async () => {
    const body = '<script>alert(1)</script>\n  "quoted" & √ 漢字 🙂';
    const { status, body: ticket } = await ask({ subject: 'Nothing <b>arrives</b>', body });
    expect(status).toBe(200);
    expect(ticket).toMatchObject({ subject: 'Nothing <b>arrives</b>', category: 'other', status: 'open', livemode: true });
    expect(ticket.messages).toMatchObject([{ author: 'merchant', body }]);
    const { body: read } = await thread(ticket.ticket_id);
    expect(read).toEqual({ ...ticket, timeline: [] });
    const [created] = await readEvents(ticket.ticket_id);
    expect(created.type).toBe('support.ticket_created');
    expect(created.message).toEqual(ticket.messages[0]);
    expect('messages' in created.object).toBe(false);
  });

  it('staff answer, a message reopens a resolved ticket, and a closed ticket stays closed', async () => {
    const id = await opened();
    const answered = await write(id, 'Like this.', staff.token);
    expect([answered.status, answered.body.status]).toEqual([200, 'pending']);
    expect(answered.body.messages.map(({ author }: Body) => author)).toEqual(['merchant', 'staff']);
    expect((await write(id, 'And then?')).body.status).toBe('open');
    expect((await move(id, 'resolve', staff.token)).body.status).toBe('resolved');
    expect((await move(id, 'resolve', staff.token)).body.status).toBe('resolved');
    expect((await write(id, 'Not quite.')).body.status).toBe('open');
    const { body: closed } = await move(id, 'close', ada.key);
    expect(closed.status).toBe('closed');
    expect((await move(id, 'close', staff.token)).body).toEqual(closed);
    for (const key of [ada.key, staff.token]) {
      const { status, body } = await write(id, 'One more thing.', key);
      expect([status, body.code]).toEqual([409, 'ticket_closed']);
    }
    expect((await move(id, 'resolve', staff.token)).body.code).toBe('ticket_closed');
    expect((await readEvents(id)).map(({ type }) => type)).toEqual([
      'support.ticket_created',
      'support.message_added',
      'support.message_added',
      'support.ticket_updated',
      'support.message_added',
      'support.ticket_updated',
      'support.ticket_closed',
    ]);
  });

  it('a ticket shows the events of its subject, which must belong to the merchant', async () => {
    const { payment, confirmed } = await w.purchase(await w.product(ada), await w.chain.wallet());
    const id = await opened({ category: 'payment', payment_id: payment.payment_id });
    const { body } = await thread(id);
    const { body: timeline } = await w.call('GET', `/v1/webhooks/timeline?payment_id=${payment.payment_id}`, { key: ada.key });
    expect(body.timeline).toEqual(timeline.items);
    expect(body.timeline.length).toBeGreaterThan(2);
    const ofMember = await opened({ membership_id: confirmed.membership_id });
    expect((await thread(ofMember)).body.timeline.map(({ type }: Body) => type)).toContain('membership.activated');
    expect((await thread(id, staff.token)).body.timeline).toEqual(timeline.items);
    const eve = await w.merchant();
    for (const [linked, key] of [
      [{ payment_id: payment.payment_id }, eve.key],
      [{ payment_id: payment.payment_id }, ada.sandboxKey],
      [{ membership_id: confirmed.membership_id }, eve.key],
      [{ payment_id: '01900000-0000-7000-8000-000000000000' }, ada.key],
    ] as const) {
      const { status, body: refused } = await ask({ subject: 'Mine?', body: 'It is not.', ...linked }, key);
      expect([status, refused.code]).toEqual([404, 'not_found']);
    }
  });

  it('another merchant, the other mode and a key of staff without admin see nothing of a ticket', async () => {
    const id = await opened();
    const eve = await w.merchant();
    for (const key of [eve.key, eve.token, ada.sandboxKey, staff.key])
      for (const { status } of [await thread(id, key), await write(id, 'Hello?', key), await move(id, 'close', key)])
        expect(status).toBe(404);
    expect((await thread(id, null)).status).toBe(401);
    expect((await list('', eve.key)).body.total).toBe(0);
    for (const key of [ada.key, ada.token, staff.key]) {
      const { status, body } = await list('?scope=all', key);
      expect([status, body.code, body.meta.reason]).toEqual([403, 'invalid_authorization', 'staff_required']);
    }
    expect((await move(id, 'resolve', ada.token)).status).toBe(403);
  });

  it('an admin key of staff has access while its maker is staff', async () => {
    const id = await opened();
    const maker = await openStaff(w);
    const body = { name: 'desk', permissions: ['read', 'execute', 'admin'] };
    const { body: made } = await w.call('POST', '/v1/keys', { key: maker.token, body });
    expect((await list('?scope=all', made.raw_key)).status).toBe(200);
    expect((await thread(id, made.raw_key)).status).toBe(200);
    expect((await move(id, 'resolve', made.raw_key)).body.status).toBe('resolved');
    const headers = { 'X-Svc-Operator-Secret': OPERATOR_SECRET };
    await w.call('POST', '/v1/operator/accounts', { headers, body: { account: maker.userId, action: 'unstaff' } });
    expect((await list('?scope=all', made.raw_key)).body.meta.reason).toBe('staff_required');
    expect((await thread(id, made.raw_key)).status).toBe(404);
  });

  it('tickets are listed by newest message and by status, for staff over all merchants', async () => {
    const eve = await w.merchant();
    const first = await opened({ subject: 'First' }, eve.key);
    const second = await opened({ subject: 'Second' }, eve.key);
    await testEnv.DB.prepare('UPDATE support_tickets SET last_message_at = last_message_at - 1000 WHERE id = ?').bind(first).run();
    const ids = ({ body }: Body) => body.items.map(({ ticket_id }: Body) => ticket_id);
    expect(ids(await list('', eve.key))).toEqual([second, first]);
    await write(first, 'Once more.', eve.key);
    expect(ids(await list('', eve.key))).toEqual([first, second]);
    await write(second, 'Yes.', staff.token);
    expect(ids(await list('?status=pending', eve.key))).toEqual([second]);
    expect(ids(await list('?status=open', eve.key))).toEqual([first]);
    const all = await list('?scope=all&per_page=50', staff.token);
    expect(ids(all).slice(0, 2)).toEqual([second, first]);
    expect(all.body.total).toBeGreaterThan(2);
    expect(ids(await list('', staff.token))).toEqual([]);
    const { body: summary } = await w.call('GET', '/v1/account/summary', { key: eve.key });
    expect(summary.open_support_threads).toBe(2);
  });

  it('the author of a message on their own account’s ticket is the merchant, staff included', async () => {
    const { body } = await ask({ subject: 'From the inside', body: 'A question of our own.' }, staff.token);
    expect((await write(body.ticket_id, 'Nobody there?', staff.token)).body.messages.map(({ author }: Body) => author)).toEqual([
      'merchant',
      'merchant',
    ]);
  });

  it('a resolved ticket closes after 14 days without a message, and one with a newer message stays open', async () => {
    const [silent, loud, young] = [await opened(), await opened(), await opened()];
    for (const id of [silent, loud, young]) await move(id, 'resolve', staff.token);
    await testEnv.DB.prepare('UPDATE support_tickets SET updated_at = updated_at - ? WHERE id IN (?, ?)')
      .bind(14 * DAY + 1, silent, loud)
      .run();
    await write(loud, 'Still there.');
    await w.sweepAlone('tickets');
    const statuses = await Promise.all([silent, loud, young].map(async (id) => (await thread(id)).body.status));
    expect(statuses).toEqual(['closed', 'open', 'resolved']);
    expect((await readEvents(silent)).at(-1).type).toBe('support.ticket_closed');
  });

  it('an account may write 50 messages an hour, new tickets included, also concurrently', async () => {
    const eve = await w.merchant();
    const id = await opened({}, eve.key);
    const many = await Promise.all(Array.from({ length: 12 }, (_, i) => write(id, `Message ${i}`, eve.key)));
    const stored = many.filter(({ status }) => status === 200).length;
    for (let written = stored + 1; written < 50; written++) expect((await write(id, 'One more', eve.key)).status).toBe(200);
    for (const { status, body, headers } of [
      await write(id, 'Too many', eve.key),
      await ask({ subject: 'Too many', body: 'x' }, eve.key),
    ]) {
      expect([status, body.code]).toEqual([429, 'rate_limited']);
      expect(Number(headers.get('Retry-After'))).toBeGreaterThan(3000);
    }
    expect((await write(id, 'An answer', staff.token)).status).toBe(200);
    await testEnv.DB.prepare('UPDATE support_messages SET written_at = written_at - 3600001 WHERE author_id = ?').bind(eve.userId).run();
    expect((await write(id, 'An hour later', eve.key)).status).toBe(200);
  });

  it.each([
    [{ subject: 'ab' }, 'subject'],
    [{ subject: 'x'.repeat(161) }, 'subject'],
    [{ body: '   ' }, 'body'],
    [{ body: 'x'.repeat(10_001) }, 'body'],
    [{ category: 'gossip' }, 'category'],
    [{ payment_id: 'mine' }, 'payment_id'],
  ])('the input %j is refused', async (change, field) => {
    const { status, body } = await ask({ subject: 'A question', body: 'Why?', ...change });
    expect([status, body.detail[0].loc]).toEqual([422, ['body', field]]);
  });

  it('a page size above 50 is refused', async () => {
    expect((await list('?per_page=51')).status).toBe(422);
    expect((await list('?status=done')).status).toBe(422);
  });

  it('a replayed request gets its first answer and writes once', async () => {
    const id = await opened();
    const headers = { 'Idempotency-Key': crypto.randomUUID() };
    const once = () => w.call('POST', `/v1/support/tickets/${id}/message`, { key: staff.token, body: { body: 'Once.' }, headers });
    const [first, again] = [await once(), await once()];
    expect(again.body).toEqual(first.body);
    expect(again.headers.get('Idempotent-Replayed')).toBe('true');
    expect((await thread(id)).body.messages).toHaveLength(2);
  });

  it('the deletion of an account removes its messages', async () => {
    const eve = await w.merchant();
    const id = await opened({ subject: 'My name is Eve', body: 'And this is my address.' }, eve.key);
    await write(id, 'Dear Eve, thank you.', staff.token);
    await w.call('DELETE', '/v1/account/account', { key: eve.token });
    const left = await testEnv.DB.prepare(
      "SELECT t.subject || group_concat(m.body, '') AS text FROM support_tickets t JOIN support_messages m ON m.ticket_id = t.id WHERE t.id = ?",
    )
      .bind(id)
      .first<string>('text');
    expect(left).toBe('');
    const { status, body } = await write(id, 'Dear Eve, one more thing.', staff.token);
    expect([status, body.code, body.meta.reason]).toEqual([409, 'state_conflict', 'account_deleted']);
  });

  it('an unknown ticket and one of another mode answer 404', async () => {
    const id = await opened();
    for (const how of ['close', 'resolve'] as const) {
      expect((await move(crypto.randomUUID(), how, staff.token)).status).toBe(404);
      const inSandbox = await w.call('POST', `/v1/support/tickets/${id}/${how}?mode=sandbox`, { key: staff.token });
      expect([inSandbox.status, inSandbox.body.code]).toEqual([404, 'not_found']);
    }
    expect((await thread(id)).body.status).toBe('open');
  });

  it('a contended ticket answers 409 state_conflict without a change, and the request may be repeated', async () => {
    const id = await opened();
    const bump = testEnv.DB.prepare('UPDATE support_tickets SET version = version + 1 WHERE id = ?').bind(id);
    const DB = new Proxy(w.env.DB, {
      get: (target, name) =>
        name === 'batch'
          ? async (statements: D1PreparedStatement[]) => {
              await bump.run();
              return target.batch(statements);
            }
          : Reflect.get(target, name),
    });
    const env = { ...w.env, DB } as typeof w.env;
    const before = (await thread(id)).body;
    for (const [how, key, body] of [
      ['message', ada.key, { body: 'Is anybody there?' }],
      ['resolve', staff.token, undefined],
      ['close', ada.key, undefined],
    ] as const) {
      const { status, body: refused } = await w.call('POST', `/v1/support/tickets/${id}/${how}`, { key, env, ...(body ? { body } : {}) });
      expect([how, status, refused.code, refused.meta.reason]).toEqual([how, 409, 'state_conflict', 'contended']);
    }
    expect((await thread(id)).body).toEqual(before);
    expect((await write(id, 'Is anybody there?')).status).toBe(200);
  });
});
