import { beforeAll, describe, expect, it } from 'vitest';
import { MINUTE } from '#core/time.ts';
import { type GivenRole, hasRole, ROLES, type Role } from '#rules/access/roles.ts';
import { ApiSection } from '../../../worker/pages/dashboard/frame/api-section.tsx';
import { SCREENS } from '../../../worker/pages/dashboard/routes.tsx';
import { browserOf } from '../../../worker/pages/dashboard/screens/security.tsx';
import { PageBrowser, signInToPages } from '../../support/clients/page-browser.ts';
import { tokenSignedIn } from '../../support/clients/session.ts';
import { addMember } from '../../support/people/team.ts';
import { letTimeRun, setTime } from '../../support/runner/clock.ts';
import { MailWorld } from '../../support/servers/mail.ts';
import { type Merchant, World } from '../../support/world.ts';

const NOWHERE = '01900000-0000-7000-8000-000000000000';
const NAME = 'Ada’s weather';
/** Sign-in of the owner, of long ago, so that no allowed act closes the account. */
const LONG_AGO_MIN = 60;
/** Words that a final act asks for. */
const CONFIRMED: Record<string, string> = { merge: 'merge', disown: 'not mine', transfer: NAME, close: NAME, erase: NAME };
/** Acts that read their object before they change it, so that an unknown object would hide the refusal of the role. */
const ON_REAL_OBJECTS = ['grant', 'save', 'resend', 'erase'];
const REFUSAL = /The role \w+ may not make the call/;

const w = new MailWorld();
let owner: Merchant;
let objects: Record<string, string>;

const actsOn = (text: string): string[] => [...new Set([...text.matchAll(/name="act" value="(\w+)"/g)].map(([, act]) => act!))];
const pathWith = (path: string, ids: Record<string, string>) => path.replace(/:(\w+)/g, (_, name: string) => ids[name] ?? NOWHERE);

async function openBrowser(role: Role): Promise<PageBrowser> {
  const browser = new PageBrowser(w);
  const token =
    role === 'owner' ? await tokenSignedIn(w, owner.userId, LONG_AGO_MIN) : (await addMember(w, owner, role as GivenRole)).token;
  browser.cookies.set('__Host-svc_session', token);
  return browser;
}

beforeAll(async () => {
  owner = await w.merchant('growth');
  const call = (path: string, body: object) => w.call('POST', path, { key: owner.key, body });
  const endpoint = await call('/v1/webhooks/endpoints', { url: 'https://hooks.example.com/one', event_types: ['payment.confirmed'] });
  const product = await w.product(owner);
  const payment = await w.connect(product, { customer_ref: NAME });
  const paid = await w.confirm(payment.payment_id, await w.chain.pay(await w.chain.wallet(), payment));
  await w.confirm(payment.payment_id, await w.chain.pay(await w.chain.wallet(), payment));
  await w.deliver();
  await w.sweepAlone('fanOut');
  await w.sweep();
  const headers = { Authorization: `Bearer ${owner.token}` };
  const { body: delivered } = await w.call('GET', '/v1/webhooks/deliveries', { key: owner.key });
  const { body: customers } = await w.call('GET', '/v1/customers', { key: owner.key });
  const { body: keys } = await w.call('GET', '/v1/keys', { headers });
  const ticket = await w.call('POST', '/v1/support/tickets', { headers, body: { subject: 'Rain', category: 'other', body: 'It rains' } });
  objects = {
    product_id: product.product_id,
    payment_id: payment.payment_id,
    receipt_id: paid.body.receipt_id,
    endpoint_id: endpoint.body.endpoint_id,
    delivery_id: String(delivered.items[0].delivery_id),
    event_id: delivered.items[0].event_id,
    customer_id: customers.items[0].customer_id,
    key_id: keys[0].id,
    ticket_id: ticket.body.ticket_id,
  };
  await addMember(w, owner, 'viewer');
});

describe('acts on the screens of each role', () => {
  it.each(ROLES)('%s sees the forms that the API allows, and no others', async (role) => {
    const [browser, first] = [await openBrowser(role), await openBrowser('owner')];
    const wrong: string[] = [];
    for (const { path, acts } of SCREENS) {
      const real = pathWith(path, objects);
      const shown = actsOn((await browser.get(real)).text);
      const offered = actsOn((await first.get(real)).text);
      for (const [act, { needs }] of Object.entries(acts)) {
        const isAllowed = needs === null || hasRole(role, needs);
        if (shown.includes(act) && !isAllowed) wrong.push(`${path} shows ${act}`);
        if (offered.includes(act) && isAllowed && !shown.includes(act)) wrong.push(`${path} hides ${act}`);
        if (needs === null) continue;
        const sent = await browser.post(ON_REAL_OBJECTS.includes(act) ? real : pathWith(path, {}), {
          act,
          id: NOWHERE,
          other: NOWHERE,
          require_factor: 'on',
          confirm: CONFIRMED[act] ?? '',
          idempotency_key: crypto.randomUUID(),
        });
        if (REFUSAL.test(sent.text) === isAllowed) wrong.push(`${path} ${act}: ${sent.status} although ${needs}`);
      }
    }
    expect(wrong).toEqual([]);
  });
});

describe('section "API"', () => {
  it('an answer of more than 64 KB is a link instead of text that is cut', async () => {
    const call = { id: 'listPayments', method: 'GET', path: '/v1/payments', status: 200, requestId: 'req_1' } as const;
    const draw = async (body: string) => String(await ApiSection({ calls: [{ ...call, body }], baseUrl: 'https://svc.test' }));
    const [short, long] = [await draw('{"items":[]}'), await draw(JSON.stringify({ items: 'x'.repeat(70_000) }))];
    expect([short.includes('&quot;items&quot;: []'), short.includes('href="/v1/payments"')]).toEqual([true, false]);
    expect([long.includes('xxx'), long.includes('href="/v1/payments"')]).toEqual([false, true]);
  });
});

describe('banner of paused sales', () => {
  it('the button that resumes them is shown to roles that may', async () => {
    const owner = await openBrowser('owner');
    await owner.post('/dashboard/payouts', { act: 'pause' });
    const offers: [Role, boolean][] = [];
    for (const role of ROLES) {
      const { text } = await (await openBrowser(role)).get('/dashboard');
      expect(text).toContain('Sales are paused');
      offers.push([role, actsOn(text).includes('resume')]);
    }
    expect(offers).toEqual(ROLES.map((role) => [role, hasRole(role, 'settings:write')]));
  });
});

describe('browser of a session', () => {
  const WEBKIT = 'AppleWebKit/537.36 (KHTML, like Gecko)';
  it.each([
    ['Edge on Windows', `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${WEBKIT} Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0`],
    ['Opera on Windows', `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${WEBKIT} Chrome/140.0.0.0 Safari/537.36 OPR/120.0.0.0`],
    ['Chrome on Android', `Mozilla/5.0 (Linux; Android 16; Pixel 9) ${WEBKIT} Chrome/140.0.0.0 Mobile Safari/537.36`],
    [
      'Safari on iPhone',
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Version/18.0 Mobile/15E148 Safari/604.1',
    ],
    ['Firefox on Linux', 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'],
    ['curl/8.5.0', 'curl/8.5.0'],
    ['Unknown', ''],
  ])('%s is what its user agent says', (name, userAgent) => {
    expect(browserOf(userAgent)).toBe(name);
  });
});

describe('rate of the dashboard', () => {
  it('the 121st page of a minute is a 429 page with Retry-After, and the plan has all its requests', async () => {
    const limited = new World({ RATE_MULTIPLIER: '1' });
    const { email, key } = await limited.merchant();
    setTime(Math.ceil(Date.now() / MINUTE) * MINUTE);
    const browser = await signInToPages(limited, email);
    let pages = 0;
    for (; pages < 121 && (await browser.get('/dashboard/settings')).status === 200; pages++);
    const { status, response, text } = await browser.get('/dashboard/settings');
    const called = await limited.call('GET', '/v1/account/me', { key });
    letTimeRun();
    expect([pages, status, Number(response.headers.get('Retry-After')) > 0, called.status]).toEqual([120, 429, true, 200]);
    expect(text).toContain('<h1>');
  });
});
