import { beforeAll, describe, expect, it } from 'vitest';
import { crc32, hmacSha256 } from '#core/crypto.ts';
import { base62, hex, randomBase62, utf8 } from '#core/encoding.ts';
import type { Env } from '#platform/context.ts';
import { newKey } from '../../support/people/agent.ts';
import { type Merchant, World } from '../../support/world.ts';

const EVENT = '{"id":"evt_1","object":"event","created":1,"type":"invoice.paid","data":{"object":{"customer":"cus_1"}}}';

describe('rate limits per address', () => {
  const w = new World();
  let ada: Merchant;
  let addresses = 0;
  const asked: string[] = [];
  const strict = (multiplier = '1'): Env => {
    const getByName = (name: string) => {
      asked.push(name);
      return w.env.ADMISSION.getByName(name);
    };
    return { ...w.env, RATE_MULTIPLIER: multiplier, ADMISSION: { getByName } as unknown as Env['ADMISSION'] };
  };
  const newAddress = () => `203.0.113.${++addresses}`;
  const from = (address: string, env = strict(), headers: Record<string, string> = {}) => ({
    headers: { 'CF-Connecting-IP': address, ...headers },
    env,
  });
  const passed = (answers: { status: number }[]) => answers.filter(({ status }) => status !== 429).length;

  beforeAll(async () => {
    ada = await w.merchant();
  });

  it('thirty sign-ins pass in 15 minutes for any email, and the refusal is cached', async () => {
    const [address, env] = [newAddress(), strict()];
    const logIn = (index: number) => w.call('POST', '/v1/auth/login', { body: { email: `n${index}@example.com` }, ...from(address, env) });
    const answers = [];
    for (let index = 0; index < 40; index++) answers.push(await logIn(index));
    expect(passed(answers)).toBe(30);
    expect(answers.slice(30).every(({ headers }) => Number(headers.get('Retry-After')) >= 1)).toBe(true);
    asked.length = 0;
    expect((await logIn(41)).status).toBe(429);
    expect(asked).toEqual([]);
    expect((await w.call('POST', '/v1/auth/login', { body: { email: 'n@example.com' }, ...from(newAddress(), env) })).status).toBe(422);
  });

  it.each(['/docs', '/docs/errors', '/v1/docs', '/v1/openapi.json', '/'])('a request to %s counts once', async (path) => {
    asked.length = 0;
    await w.call('GET', path, from(newAddress()));
    expect(asked).toHaveLength(1);
  });

  it('sixty connects pass in a minute for any slug', async () => {
    const [address, env] = [newAddress(), strict()];
    const answers = [];
    for (let index = 0; index < 70; index++)
      answers.push(await w.call('POST', `/v1/products/p/nothing-${index % 10}/connect`, { body: {}, ...from(address, env) }));
    expect(passed(answers)).toBe(60);
  });

  it('all public routes share one limit', async () => {
    const [address, env] = [newAddress(), strict('0.1')];
    const callPublic = (index: number) => {
      const id = `01a20000-0000-7000-8000-0000000000${10 + index}`;
      const ways = [
        () => w.call('GET', `/v1/payments/${id}`, from(address, env)),
        () => w.call('POST', '/v1/pay/confirm', { body: { payment_id: id, tx_signature: 'x' }, ...from(address, env) }),
        () => w.call('GET', '/v1/openapi.json', from(address, env)),
        () => w.call('GET', '/health', from(address, env)),
        () => w.call('POST', '/v1/auth/refresh', { body: {}, ...from(address, env) }),
      ];
      return ways[index % ways.length]!();
    };
    const answers = [];
    for (let index = 0; index < 75; index++) answers.push(await callPublic(index));
    expect(passed(answers)).toBe(60);
  });

  const forge = (end: (body: string) => string) => {
    const body = `svc_live_${randomBase62(21)}${ada.key.slice(-17, -6)}`;
    return body + end(body);
  };

  it('forged keys call no account object, and the twenty-first in a minute is 429', async () => {
    const [address, env] = [newAddress(), strict()];
    asked.length = 0;
    const answers = [];
    for (let index = 0; index < 30; index++) {
      const key = forge(() => randomBase62(6));
      answers.push(await w.call('GET', '/v1/products', { key, ...from(address, env) }));
    }
    expect(answers.map(({ status }) => status)).toEqual([...Array(20).fill(401), ...Array(10).fill(429)]);
    expect(asked.filter((name) => name.startsWith('account:'))).toEqual([]);
  });

  it('unknown refresh tokens count, and the twenty-first in a minute is 429', async () => {
    const [address, env] = [newAddress(), strict()];
    const statuses: number[] = [];
    for (let index = 0; index < 22; index++)
      statuses.push((await w.call('POST', '/v1/auth/refresh', { body: { token: `none-${index}` }, ...from(address, env) })).status);
    expect(statuses).toEqual([...Array(20).fill(401), 429, 429]);
  });

  it('well-formed unknown keys call the account object only below the limit, and a good key still passes', async () => {
    const [address, env] = [newAddress(), strict()];
    asked.length = 0;
    for (let index = 0; index < 40; index++) {
      const key = forge((body) => base62(BigInt(crc32(utf8(body))), 6));
      const { status } = await w.call('GET', '/v1/products', { key, ...from(address, env) });
      expect([index, status]).toEqual([index, index < 20 ? 401 : 429]);
    }
    // The request that fills the window is judged before the count is known.
    expect(asked.filter((name) => name.startsWith('account:')).length).toBeLessThanOrEqual(21);
    expect((await w.call('GET', '/v1/products', { key: ada.key, ...from(address, env) })).status).toBe(200);
  });

  it('a call with a good key does not use the address limit', async () => {
    const product = await w.product(ada, { live_mode_confirmed: true });
    asked.length = 0;
    const body = { product_id: product.product_id, customer: { customer_ref: 'buyer' } };
    await w.call('POST', '/v1/access/entitlements/consume', {
      body,
      key: ada.key,
      ...from(newAddress(), strict(), { 'Idempotency-Key': newKey() }),
    });
    const payment = await w.connect(product);
    await w.call('GET', `/v1/payments/${payment.payment_id}`, { key: ada.key, ...from(newAddress()) });
    expect(asked.length).toBeGreaterThan(0);
    expect(asked.filter((name) => !name.startsWith('account:'))).toEqual([]);
  });

  it('Workers that share one address are counted per zone', async () => {
    const env = strict();
    const register = (zone: string) =>
      w.call('POST', '/v1/auth/register', { body: {}, ...from('2a06:98c0:3600::103', env, { 'CF-Worker': zone }) });
    const answers = [];
    for (let index = 0; index < 7; index++) answers.push(await register('shop.example'));
    expect(passed(answers)).toBe(5);
    expect((await register('agent.example')).status).toBe(422);
  });

  it('wrong setup secrets count like other wrong credentials, in body and header', async () => {
    const [address, env] = [newAddress(), strict()];
    const { body: setup } = await w.call('POST', '/v1/access/agent-bootstrap', { body: { agent_name: 'Guessed' } });
    const path = `/v1/access/agent-bootstrap/${setup.setup_intent_id}`;
    const guess = (index: number) => `${setup.setup_secret.slice(0, -43)}${String(index).padStart(43, '0')}`;
    const show = (setup_secret: string, where = address) =>
      w.call('POST', `${path}/status`, { body: { setup_secret }, ...from(where, env) });
    const statuses: number[] = [];
    for (let index = 0; index < 24; index++) {
      if (index % 2 === 0) statuses.push((await show(guess(index))).status);
      else {
        const headers = { 'CF-Connecting-IP': address, 'X-Svc-Setup-Secret': guess(index) };
        statuses.push((await w.call('POST', '/v1/access/x402/activate/starter', { headers, env })).status);
      }
    }
    expect(statuses).toEqual([...Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? 404 : 401)), 429, 429, 429, 429]);
    expect((await show(setup.setup_secret, newAddress())).status).toBe(200);
  });

  it('IPv6 registrations also count per /48', async () => {
    const env = strict();
    const [site, other] = ['2001:db8:77', '2001:db8:78'];
    const register = (network: string) => w.call('POST', '/v1/auth/register', { body: {}, ...from(`${network}::1`, env) });
    const answers = [];
    for (let index = 0; index < 48; index++) answers.push(await register(`${site}:${(index >> 2).toString(16)}`));
    expect(passed(answers)).toBe(40);
    expect(answers.slice(40).every(({ headers }) => Number(headers.get('Retry-After')) >= 1)).toBe(true);
    expect((await register(`${other}:1`)).status).toBe(422);
  });

  it('unsigned calls of the chain provider count, and are refused with 429 in the end', async () => {
    const [address, env] = [newAddress(), { ...strict('0.01'), RPC_WEBHOOK_SECRET: 'the-secret-of-the-chain-provider' }];
    const answers = [];
    for (let index = 0; index < 8; index++)
      answers.push(await w.call('POST', '/v1/products/webhook/rpc', { body: [], ...from(address, env) }));
    expect(answers.map(({ status }) => status)).toEqual([...Array(6).fill(401), 429, 429]);
  });

  it.each(['/v1/products/webhook/rpc', '/v1/billing/webhooks/processor', '/v1/integrations/mail/webhooks/resend'])(
    'oversized and non-JSON bodies of %s count, and are refused unread in the end',
    async (path) => {
      const [address, env] = [newAddress(), { ...strict('0.01'), RPC_WEBHOOK_SECRET: 'the-secret-of-the-chain-provider' }];
      const long = JSON.stringify('x'.repeat(300_000));
      const post = (raw: string, headers: Record<string, string> = {}) => w.call('POST', path, { raw, ...from(address, env, headers) });
      const statuses: number[] = [];
      for (let index = 0; index < 4; index++) statuses.push((await post(long)).status);
      for (let index = 0; index < 3; index++) statuses.push((await post('x', { 'Content-Type': 'text/plain' })).status);
      expect(statuses).toEqual([413, 413, 413, 413, 415, 415, 429]);
      asked.length = 0;
      expect([(await post(long)).status, asked]).toEqual([429, []]);
    },
  );

  it.each<[string, (mac: (text: string) => string, now: string) => Record<string, string>]>([
    ['/v1/products/webhook/rpc', (mac) => ({ 'Rpc-Signature': mac(EVENT) })],
    ['/v1/billing/webhooks/processor', (mac, t) => ({ 'Stripe-Signature': `t=${t},v1=${mac(`${t}.${EVENT}`)}` })],
  ])('a good signature for %s is 429 without hashing once its address forged too many', async (path, sign) => {
    const secret = 'the-secret-of-a-provider';
    const secrets = { RPC_WEBHOOK_SECRET: secret, PROCESSOR_WEBHOOK_SECRETS: `whsec_${secret}` };
    const env = { ...strict('0.01'), ...secrets };
    const now = String(Math.floor(Date.now() / 1000));
    const headersBy = (key: string) => sign((text) => hex.encode(hmacSha256(utf8(key), utf8(text))), now);
    const key = path.includes('rpc') ? secret : `whsec_${secret}`;
    const [address, other] = [newAddress(), newAddress()];
    const post = (sender: string, headers: Record<string, string>) => w.call('POST', path, { raw: EVENT, ...from(sender, env, headers) });
    const statuses: number[] = [];
    for (let index = 0; index < 7; index++) statuses.push((await post(address, headersBy('another secret'))).status);
    expect(statuses).toEqual([...Array(6).fill(401), 429]);
    asked.length = 0;
    expect([(await post(address, headersBy(key))).status, asked]).toEqual([429, []]);
    expect((await post(other, headersBy(key))).status).not.toBe(401);
  });
});
