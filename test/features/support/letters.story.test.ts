import { beforeEach, describe, expect, it } from 'vitest';
import { HOUR } from '#core/time.ts';
import { OPERATOR_SECRET, openStaff } from '../../support/people/staff.ts';
import { testEnv } from '../../support/runner/env.ts';
import { letterToken, MailWorld } from '../../support/servers/mail.ts';
import { type Merchant, World } from '../../support/world.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers whose shape call() has already checked against the document.
type Body = any;

describe('a ticket tells the other side by letter', () => {
  let w: MailWorld;
  let ada: Merchant;
  let staff: Merchant;

  const verify = async ({ userId }: Merchant) => {
    const body = { token: await letterToken(w, userId, 'verify') };
    expect((await w.call('POST', '/v1/account/email/verify', { body })).status).toBe(200);
  };
  beforeEach(async () => {
    w = new MailWorld({ OPERATOR_SECRET });
    await testEnv.DB.prepare('UPDATE accounts SET is_staff = 0').run();
    [ada, staff] = [await w.merchant(), await openStaff(w)];
    await verify(ada);
    await verify(staff);
    await testEnv.DB.prepare('DELETE FROM mails').run();
  });

  const done = async (answer: ReturnType<MailWorld['call']>): Promise<Body> => {
    const { status, body } = await answer;
    expect(status, JSON.stringify(body)).toBe(200);
    return body;
  };
  const open = async (key = ada.key): Promise<string> =>
    (await done(w.call('POST', '/v1/support/tickets', { key, body: { subject: 'Ada’s question', body: 'How does it work?' } }))).ticket_id;
  const write = (id: string, body: string, key: string) =>
    done(w.call('POST', `/v1/support/tickets/${id}/message`, { key, body: { body } }));
  const move = (id: string, how: 'close' | 'resolve', key: string) => done(w.call('POST', `/v1/support/tickets/${id}/${how}`, { key }));
  /** What came to each mailbox, in the order of writing. */
  const arrived = async () => {
    await w.post();
    const { taken } = await w.posted();
    const to = ({ email }: Merchant) => taken.filter(({ body }) => body.to[0] === email).map(({ body }) => body);
    return { ada: to(ada), staff: to(staff) };
  };
  const rows = async () => (await w.rows()).map(({ letter, account_id: reader }) => [letter, reader === ada.userId ? 'ada' : 'staff']);

  it('to staff what its owner does, to the owner what staff do, and to nobody what they do themselves', async () => {
    const id = await open();
    await write(id, 'Like <b>this</b>.', staff.token);
    await write(id, 'And then?', ada.key);
    await move(id, 'resolve', staff.token);
    await move(id, 'resolve', staff.token);
    await move(id, 'close', staff.token);
    expect(await rows()).toEqual([
      ['ticket_asked', 'staff'],
      ['ticket_answered', 'ada'],
      ['ticket_asked', 'staff'],
      ['ticket_resolved', 'ada'],
      ['ticket_closed', 'ada'],
    ]);
    const second = await open();
    await move(second, 'close', ada.key);
    expect((await rows()).slice(-2)).toEqual([
      ['ticket_asked', 'staff'],
      ['ticket_closed', 'staff'],
    ]);
    const { ada: own, staff: theirs } = await arrived();
    expect(own.map(({ subject }) => subject).sort()).toEqual([
      'Closed: Ada’s question',
      'Resolved: Ada’s question',
      'Support answered: Ada’s question',
    ]);
    expect(own.find(({ subject }) => subject.startsWith('Support'))!.text).toContain('> Like <b>this</b>.');
    expect(theirs).toHaveLength(4);
    // What a merchant wrote is erased with the merchant: no letter to another account holds it.
    expect(JSON.stringify(theirs)).not.toMatch(/Ada’s question|How does it work|And then/);
    expect(theirs.filter(({ text }) => text.includes(id))).toHaveLength(2);
  });

  it('to the rest of staff what one of them does on a ticket of their own: resolved is not closed', async () => {
    const other = await openStaff(w);
    await verify(other);
    await testEnv.DB.prepare('DELETE FROM mails').run();
    const id = await open(staff.token);
    await move(id, 'resolve', staff.token);
    await move(id, 'close', staff.token);
    expect((await w.rows()).map(({ letter, account_id: reader }) => [letter, reader])).toEqual(
      ['ticket_asked', 'ticket_resolved', 'ticket_closed'].map((letter) => [letter, other.userId]),
    );
    await w.post();
    const { taken } = await w.posted();
    expect(taken.map(({ body }) => body.subject).sort()).toEqual([
      'A support ticket waits for an answer',
      `Closed: ${id}`,
      `Resolved: ${id}`,
    ]);
  });

  it('in the language of the reader', async () => {
    await done(w.call('PATCH', '/v1/account/me', { key: ada.token, body: { locale: 'de' } }));
    const id = await open();
    await write(id, 'So.', staff.token);
    expect((await arrived()).ada.map(({ subject }) => subject)).toEqual(['Antwort vom Support: Ada’s question']);
  });

  it('once where a message is sent again under its key, and never of a message that was refused', async () => {
    const id = await open();
    const headers = { 'Idempotency-Key': crypto.randomUUID() };
    const send = () => w.call('POST', `/v1/support/tickets/${id}/message`, { key: staff.token, body: { body: 'So.' }, headers });
    expect([(await send()).status, (await send()).status]).toEqual([200, 200]);
    await move(id, 'close', ada.key);
    expect((await w.call('POST', `/v1/support/tickets/${id}/message`, { key: staff.token, body: { body: 'No.' } })).status).toBe(409);
    expect((await rows()).filter(([letter]) => letter === 'ticket_answered')).toHaveLength(1);
  });

  it('at most ten times an hour to one reader, however many write, and again in the next', async () => {
    const bob = await w.merchant();
    for (const { key } of [ada, bob]) {
      const id = await open(key);
      for (let index = 0; index < 7; index++) await write(id, `Message ${index}`, key);
    }
    expect(await rows()).toHaveLength(10);
    await testEnv.DB.prepare(`UPDATE mails SET created_at = created_at - ${HOUR + 1}`).run();
    await open();
    expect(await rows()).toHaveLength(11);
  });

  it('never to an address without proof, to an account that is over, of the sandbox, or where no mail is configured', async () => {
    const bob = await w.merchant();
    const unproven = await open(bob.key);
    await write(unproven, 'So.', staff.token);
    const gone = await open();
    expect((await w.call('DELETE', '/v1/account/account', { key: ada.token })).status).toBe(200);
    await w.call('POST', `/v1/support/tickets/${gone}/message`, { key: staff.token, body: { body: 'So.' } });
    expect((await rows()).map(([letter]) => letter)).toEqual(['ticket_asked', 'ticket_asked']);
    const sandbox = await open(bob.sandboxKey);
    await write(sandbox, 'And?', bob.sandboxKey);
    const silent = new World({ OPERATOR_SECRET });
    await silent.call('POST', '/v1/support/tickets', { key: bob.key, body: { subject: 'A question', body: 'Why?' } });
    expect(await rows()).toHaveLength(2);
    expect((await arrived()).ada).toEqual([]);
  });

  it('to no more than twenty of staff, and reads those alone', async () => {
    for (let index = 0; index < 22; index++) await verify(await openStaff(w));
    await testEnv.DB.prepare('DELETE FROM mails').run();
    await open();
    expect(await rows()).toHaveLength(20);
    const { results } = await testEnv.DB.prepare(
      `EXPLAIN QUERY PLAN SELECT id FROM accounts WHERE is_staff = 1 AND status = 'active' AND email_verified = 1 AND email IS NOT NULL ORDER BY id LIMIT 20`,
    ).all<{ detail: string }>();
    expect(results.map(({ detail }) => detail).join()).toContain('accounts_staff');
  });
});
