import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LOCALE_NAMES } from '#core/locales.ts';
import { EMAILS } from '#emails/emails.ts';
import { type Frame, type Rendered, renderEmail } from '#emails/render.tsx';
import type { EmailFacts, EmailTemplate, SecurityChange } from '#rules/emails.ts';

const AMOUNT = { asset: 'USDC', amount: '1234.5', base_units: '1234500000' } as const;
const AT = '2026-11-14T22:13:20.000Z';
const RECEIPT = '0197a3c0-1f2e-7b3a-9c4d-5e6f708192a3';
const AUTHORIZATION = 'nsa_01KAJ3V5Y7H2Q8M4N6P9R1S3T5';
const TOKEN = 'a-token.of.a-letter';

/** Facts of every email, with `text` in each field that a person may write. */
const factsWith = (text: string): EmailFacts => ({
  verify_email: { account: text, created_at: AT },
  reset_password: {},
  sign_in_link: { at: AT, ip: text },
  many_wrong_passwords: { at: AT, failed: 100 },
  buyer_link: {},
  invitation: { account: text, inviter: text, role: 'developer', expires_at: AT },
  ownership_transfer: { account: text, from: text, to: text, at: AT, expires_at: AT },
  account_claimed: { at: AT, keys: 2, endpoints: 1, providers: 1, wallets: 3 },
  payout_changed: { wallet: text, previous: text, paid_for: text, at: AT },
  security_alert: { change: 'live_key', named: text, at: AT },
  factors_reset: { change: 'factors_reset', at: AT, ends_at: AT },
  passkey_suspect: { named: text, at: AT },
  buyer_erasure: { buyer: text, customer_id: RECEIPT, at: AT },
  plan_due: { plan: text, through: AT },
  plan_renews: { plan: text, through: AT },
  endpoint_failing: { url: text, since: AT, disables_at: AT },
  endpoint_disabled: { url: text },
  payment_unmatched: { amount: AMOUNT, payment_id: RECEIPT },
  payment_refunded: { amount: AMOUNT, payment_id: RECEIPT },
  buyer_receipt: {
    receipt_id: RECEIPT,
    product: text,
    seller: text,
    amount: AMOUNT,
    platform: 'Telegram',
    authorization_id: AUTHORIZATION,
    paid_at: AT,
    access_until: AT,
    next_charge_at: AT,
    help: text,
    accent: '#ffd400',
  },
  receipt_proof: { receipt_id: RECEIPT, product: text, seller: text, amount: AMOUNT, name: text, message: text },
  subscription_renews: { authorization_id: AUTHORIZATION, product: text, seller: text, amount: AMOUNT, at: AT },
  subscription_past_due: { slug: 'weather', authorization_id: AUTHORIZATION, product: text, seller: text, amount: AMOUNT },
  subscription_reapprove: { slug: 'weather', authorization_id: AUTHORIZATION, product: text, seller: text, amount: AMOUNT },
  subscription_cancelled: { slug: 'weather', authorization_id: AUTHORIZATION, product: text, seller: text, through: AT },
  subscription_stopped: { authorization_id: AUTHORIZATION, product: text, seller: text, through: AT },
  ticket_asked: { ticket_id: RECEIPT },
  ticket_answered: { ticket_id: RECEIPT, subject: text, message: text },
  ticket_resolved: { ticket_id: RECEIPT, subject: text },
  ticket_closed: { ticket_id: RECEIPT, subject: text },
});
const LATER = '2026-11-17T22:13:20.000Z';
const SECURITY_CHANGES = Object.keys({
  ...{ email: 1, password: 1, provider_linked: 1, provider_unlinked: 1, passkey_added: 1, passkey_removed: 1, totp_added: 1 },
  ...{ totp_removed: 1, recovery_codes: 1, recovery_code_used: 1, live_key: 1, live_key_widened: 1, endpoint_added: 1 },
  ...{ new_sign_in: 1, admin_added: 1 },
} satisfies Record<SecurityChange, 1>) as SecurityChange[];
const GIVEN_ROLES = ['admin', 'developer', 'finance', 'support', 'viewer'] as const;
const NAMES = Object.keys(EMAILS) as EmailTemplate[];
const frame = (locale: Frame['locale'], operator: string | null = null): Frame => ({
  locale,
  baseUrl: 'https://svc.test',
  token: TOKEN,
  operator,
});
const render = (name: EmailTemplate, text: string, locale: Frame['locale'] = 'en', operator: string | null = null): Rendered =>
  renderEmail(name, factsWith(text)[name] as never, frame(locale, operator));

/** Characters that no email text may contain: control, bidi and invisible characters. A line break separates paragraphs. */
const HARMFUL = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;
const TAGS = /<\/?([a-z0-9!]+)/gi;
const tagsOf = (html: string): Set<string> => new Set([...html.matchAll(TAGS)].map(([, tag]) => tag!.toLowerCase()));
const PLAIN_TAGS = ['!doctype', 'html', 'head', 'meta', 'title', 'body', 'div', 'h1', 'p', 'blockquote', 'table', 'tr', 'td', 'a'];

/** Emails with a second link, to the page that cancels the subscription. */
const WITH_SECOND_LINK: EmailTemplate[] = ['buyer_receipt', 'subscription_past_due', 'subscription_reapprove'];

function expectSound(name: EmailTemplate, { subject, html, text }: Rendered): void {
  expect([...subject].length, name).toBeLessThanOrEqual(150);
  expect(subject, name).not.toMatch(/[\r\n]/);
  for (const part of [subject, html, text]) expect(part, name).not.toMatch(HARMFUL);
  expect(subject.isWellFormed() && html.isWellFormed() && text.isWellFormed(), name).toBe(true);
  expect(
    [...tagsOf(html)].filter((tag) => !PLAIN_TAGS.includes(tag)),
    name,
  ).toEqual([]);
  expect(html, name).not.toMatch(/<[^>]+\s(?:on\w+|src|background)\s*=/i);
  const links = [...html.matchAll(/<a\s[^>]*href="([^"]*)"/g)].map(([, url]) => url!);
  expect(links, name).toHaveLength(1 + Number(WITH_SECOND_LINK.includes(name)) + Number(name === 'buyer_receipt'));
  expect(links[0], name).toMatch(
    /^https:\/\/svc\.test\/(?:login|dashboard\/|verify-email#token=|reset-password#token=|sign-in#token=|me\/link\?token=|invitation#token=|not-me#token=|r\/|p\/|s\/)/,
  );
  for (const link of links) expect(text, name).toContain(link);
  if (name === 'buyer_receipt') expect(links.at(-1), name).toMatch(/^https:\/\/svc\.test\/me\?locale=[a-zA-Z-]+$/);
  if (WITH_SECOND_LINK.includes(name)) expect(links[1], name).toBe(`https://svc.test/s/${AUTHORIZATION}`);
  expect(html.length + text.length, name).toBeLessThan(20_000);
}

describe('renderEmail', () => {
  it.each(NAMES.flatMap((name) => LOCALE_NAMES.map((locale) => [name, locale] as const)))(
    '%s in %s is complete in HTML and in plain text, with every placeholder filled',
    (name, locale) => {
      const rendered = render(name, 'Ada & Söhne', locale, 'Svc GmbH');
      expectSound(name, rendered);
      expect(`${rendered.subject} ${rendered.text}`).not.toMatch(/[{}]/);
      const inHtml = rendered.html.replace(/<title>.*?<\/title>/, '').replace(/<[^>]*>/g, ' ');
      const seen = inHtml.replaceAll('&amp;', '&').replace(/\s+/g, ' ');
      const lines = rendered.text.split('\n\n').slice(0, -1);
      for (const line of lines.filter((text) => !text.includes(': https://svc.test/')))
        expect(seen).toContain(line.replace(/^> /, '').replace(/\s+/g, ' '));
      expect(rendered.text).toContain('Svc GmbH · svc.test');
      expect(rendered.html).toContain(`<html lang="${locale}">`);
    },
  );

  it.each(LOCALE_NAMES)('security emails in %s say in HTML and in plain text which change was made', (locale) => {
    const changes = SECURITY_CHANGES.map((change) => renderEmail('security_alert', { change, named: 'Ada', at: AT }, frame(locale)));
    const steps = [AT, LATER].map((ends_at) => renderEmail('factors_reset', { change: 'factors_reset', at: AT, ends_at }, frame(locale)));
    const roles = GIVEN_ROLES.map((role) =>
      renderEmail('invitation', { ...factsWith('Ada').invitation, role, expires_at: LATER }, frame(locale)),
    );
    for (const [name, emails] of [
      ['security_alert', changes],
      ['factors_reset', steps],
      ['invitation', roles],
    ] as const) {
      for (const email of emails) expectSound(name, email);
      for (const part of ['html', 'text'] as const) expect(new Set(emails.map((email) => email[part])).size, name).toBe(emails.length);
    }
    const final = renderEmail('security_alert', { change: 'live_key', named: 'Ada', at: AT, is_final: true }, frame(locale));
    expectSound('security_alert', final);
    for (const part of ['html', 'text'] as const)
      expect(final[part].length).toBeGreaterThan(changes[SECURITY_CHANGES.indexOf('live_key')]![part].length + 30);
    if (locale === 'en') return;
    for (const [index, change] of SECURITY_CHANGES.entries()) {
      const english = renderEmail('security_alert', { change, named: 'Ada', at: AT }, frame('en')).text.split('\n\n');
      expect(changes[index]!.text.split('\n\n')[0], change).not.toBe(english[0]);
    }
  });

  it('a receipt lists its facts in a table and has a button in the seller’s colour', () => {
    const { html, text } = render('buyer_receipt', 'Weather');
    expect(text).toContain('Amount: 1,234.50 USDC\n\nSeller: Weather\n\nPaid on: November 14, 2026 at 10:13 PM UTC');
    expect(text).toContain('Help from the seller: Weather');
    expect(html).toMatch(/<td[^>]*>Next charge, unless you cancel: <\/td><td[^>]*>November 14, 2026/);
    expect(text).not.toContain('Access until');
    const { next_charge_at: _renewal, ...once } = factsWith('Weather').buyer_receipt;
    expect(renderEmail('buyer_receipt', once, frame('en')).text).toContain('Access until: November 14, 2026');
    const longer = { ...factsWith('Weather').buyer_receipt, access_until: '2027-02-28T00:00:00.000Z' };
    expect(renderEmail('buyer_receipt', longer, frame('en')).text).toMatch(
      /Access until: February 28, 2027.*Next charge[^:]*: November 14, 2026/s,
    );
    expect(html).toContain('background:#ffd400;color:#');
    const { access_until: _until, next_charge_at: _next, help: _help, accent: _accent, ...bare } = factsWith('Weather').buyer_receipt;
    const plain = renderEmail('buyer_receipt', bare, frame('en'));
    expect(plain.text).not.toMatch(/Access until|Next charge/);
    expect(plain.html).toContain('background:#1f2430;color:#fff');
  });

  it('every email has a subject of its own in at least five of the languages', () => {
    for (const name of NAMES)
      expect(new Set(LOCALE_NAMES.map((locale) => render(name, 'x', locale).subject)).size, name).toBeGreaterThanOrEqual(5);
  });

  it.each([
    ['a header', 'Ada\r\nBcc: everybody@example.com\r\n\r\n<b>hello'],
    ['a script', '"><script>alert(1)</script><img src=x onerror=alert(1)><a href="javascript:alert(1)">'],
    ['what turns the direction', 'gnp.\u202eexe\u202c\u2066x\u2069\u200f\u061c'],
    ['what is not seen', 'Pay\u200bPal\ufeff\u00ad\u2060'],
    ['line ends that are not ASCII', 'a\u2028b\u2029c\u0085d\u000be\u000cf'],
    ['placeholders of its own words', '{seller} {product} {link} $& $1 {__proto__}'],
    ['halves of characters', 'a\ud800b\udfff'],
    ['ten thousand letters', 'x'.repeat(10_000)],
    ['ten thousand marks', `a${'\u0301'.repeat(10_000)}`],
    ['nothing that is seen', '\u200b\u200b'],
  ])('an email stays sound if a foreign text is %s', (_what, text) => {
    for (const name of NAMES) for (const locale of LOCALE_NAMES) expectSound(name, render(name, text, locale, text));
  });

  it('a foreign text is shown as written, and escaped in HTML', () => {
    const { html, text, subject } = render('receipt_proof', '<b>{seller}</b> & "co"');
    expect(subject).toContain('<b>{seller}</b> & "co"');
    expect(text).toContain('> <b>{seller}</b> & "co"');
    expect(html).toContain('&lt;b&gt;{seller}&lt;/b&gt; &amp; &quot;co&quot;');
  });

  it('an email greets by name if it is known, and has no greeting otherwise', () => {
    const facts = factsWith('Weather').receipt_proof;
    expect(renderEmail('receipt_proof', { ...facts, name: 'Grace' }, frame('de')).text).toMatch(/^Guten Tag Grace,\n/);
    const { name: _, ...unnamed } = facts;
    expect(renderEmail('receipt_proof', unnamed, frame('de')).text).toMatch(/^Weather sendet/);
  });

  it('an email is sound for any foreign text', () => {
    const texts = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 200 }),
      fc.string({ unit: 'binary', maxLength: 200 }),
      fc
        .array(fc.constantFrom('<', '>', '"', "'", '&', '\r\n', '\u202e', '\u200b', '{amount}', '\ud800', '</p>', 'a'), { maxLength: 60 })
        .map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(texts, fc.constantFrom(...NAMES), fc.constantFrom(...LOCALE_NAMES), (text, name, locale) =>
        expectSound(name, render(name, text, locale, text)),
      ),
      { numRuns: 500 },
    );
  });
});
