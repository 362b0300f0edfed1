import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkTarget, type TargetRules } from '#platform/providers/target-url.ts';

const RULES: TargetRules = { ownHosts: ['svc.dev'], allowLoopback: false };
const LOCAL: TargetRules = { ...RULES, allowLoopback: true };
const judge = (url: string, rules = RULES): string => {
  const checked = checkTarget(url, rules);
  return checked.ok ? 'ok' : checked.reason;
};

const NASTY: Record<string, string[]> = {
  ip_address: [
    'https://127.0.0.1/',
    'https://10.0.0.1/x',
    'https://169.254.169.254/latest/meta-data',
    'https://8.8.8.8/',
    'https://2130706433/',
    'https://3232235777/',
    'https://0177.0.0.1/',
    'https://017700000001/',
    'https://0x7f.0.0.1/',
    'https://0x7f000001/',
    'https://127.1/',
    'https://127.0.1/',
    'https://0/',
    'https://0.0.0.0/',
    'https://127.0.0.1./',
    'https://[::1]/',
    'https://[::]/',
    'https://[fe80::1]/',
    'https://[fd00::1]:8443/',
    'https://[2606:4700::1111]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[::ffff:7f00:1]/',
    'https://[64:ff9b::7f00:1]/',
    'https://１２７.０.０.１/',
    'https://127。0。0。1/',
    'https://①②⑦.0.0.1/',
    'https://127%2E0%2E0%2E1/',
    'https:\\\\127.0.0.1\\',
    'https:127.0.0.1',
    ' https://127.0.0.1/\n',
    'ht\ttps://127.0.\n0.1/',
  ],
  credentials: [
    'https://user@shop.dev/',
    'https://user:pass@shop.dev/',
    'https://:pass@shop.dev/',
    'https://shop.dev@127.0.0.1/',
    'https://shop.dev%40x:y@10.0.0.1/',
  ],
  port: ['https://shop.dev:80/', 'https://shop.dev:22/', 'https://shop.dev:8080/', 'https://shop.dev:444/', 'https://shop.dev:65535/'],
  own_host: [
    'https://svc.dev/',
    'https://SVC.dev/v1/health',
    'https://api.svc.dev/',
    'https://a.b.svc.dev:8443/',
    'https://svc.dev./',
    'https://api.svc.dev./',
    'https://svc。dev/',
    'https://ｓｖｃ.dev/',
    'https://%73vc.dev/',
  ],
  private_name: [
    'https://localhost/',
    'https://LOCALHOST/',
    'https://localhost./',
    'https://a.localhost/',
    'https://a.localhost./',
    'https://ｌocalhost/',
    'https://printer.local/',
    'https://metadata.google.internal/',
    'https://metadata.google.internal./',
    'https://db.intranet/',
    'https://nas.lan/',
    'https://box.home.arpa/',
    'https://x.test/',
    'https://x.onion/',
    'https://intranet/',
    'https://kubernetes/',
    'https://shop/',
    'https://com./',
  ],
  https_required: [
    'http://shop.dev/',
    'http://127.0.0.1/',
    'http://localhost:8787/',
    'data:text/plain,hello',
    'javascript:alert(1)',
    'file:///etc/passwd',
    'ftp://shop.dev/',
    'ws://shop.dev/',
    'wss://shop.dev/',
    'gopher://shop.dev/',
    'blob:https://shop.dev/1',
  ],
  not_a_url: [
    '',
    ' ',
    'shop.dev/hooks',
    '//shop.dev/hooks',
    '/hooks',
    'https://',
    'https://shop.dev:99999/',
    'https://shop .dev/',
    'https://256.256.256.256/',
    'https://1.2.3.4.5/',
    'https://[::1/',
    `https://shop.dev/${'x'.repeat(3000)}`,
  ],
};

describe('checkTarget', () => {
  it.each(Object.entries(NASTY))('a URL is refused with %s', (reason, urls) => {
    for (const url of urls) expect([url.slice(0, 60), judge(url)]).toEqual([url.slice(0, 60), reason]);
  });

  it('local development refuses the same URLs, except plain http to 127.0.0.1', () => {
    for (const [reason, urls] of Object.entries(NASTY)) {
      for (const url of urls.filter((one) => !/^http:\/\/127\.0\.0\.1/.test(one)))
        expect([url.slice(0, 60), judge(url, LOCAL)]).toEqual([url.slice(0, 60), reason]);
    }
  });

  it('any public name over https on port 443 or 8443 is allowed', () => {
    for (const url of [
      'https://shop.dev',
      'https://shop.dev:443/hooks?a=b#c',
      'https://shop.dev:8443/hooks',
      'https://a.b.c.shop.co.uk/',
      'https://shop.dev./',
      'https://bücher.de/hooks',
      'https://例え.jp/',
      'https://xn--bcher-kva.de/',
      'https://notsvc.dev/',
      'https://svc.dev.shop.com/',
      'https://localhost.shop.com/',
      'https://10.shop.dev/',
      'HTTPS://SHOP.DEV/',
      `https://shop.dev/${'x'.repeat(2000)}`,
    ])
      expect([url, judge(url)]).toEqual([url, 'ok']);
  });

  it('plain http is allowed to 127.0.0.1 in local development, and to no other host', () => {
    for (const url of ['http://127.0.0.1/', 'http://127.0.0.1:8788/hooks'])
      expect([judge(url), judge(url, LOCAL)]).toEqual(['https_required', 'ok']);
    for (const url of [
      'http://localhost/',
      'http://127.0.0.2/',
      'http://[::1]/',
      'http://0.0.0.0/',
      'http://10.0.0.1/',
      'http://shop.dev/',
    ])
      expect([url, judge(url, LOCAL)]).toEqual([url, 'https_required']);
    expect(judge('https://127.0.0.1/', LOCAL)).toBe('ip_address');
    expect(judge('http://user:x@127.0.0.1/', LOCAL)).toBe('credentials');
  });

  it('an IPv4 address is refused, however its bytes are written', () => {
    const byte = fc.integer({ min: 0, max: 255 });
    const spelled = fc
      .tuple(byte, fc.constantFrom(10, 8, 16))
      .map(([n, base]) => (base === 10 ? `${n}` : base === 8 ? `0${n.toString(8)}` : `0x${n.toString(16)}`));
    fc.assert(
      fc.property(fc.array(spelled, { minLength: 4, maxLength: 4 }), (parts) => judge(`https://${parts.join('.')}/`) === 'ip_address'),
    );
    fc.assert(fc.property(fc.integer({ min: 0, max: 0xffffffff }), (n) => judge(`https://${n}/`) === 'ip_address'));
  });

  it('any text is judged without throwing', () => {
    fc.assert(fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.webUrl()), (text) => judge(text) !== ''));
  });
});
