import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { describe, expect, it } from 'vitest';
import { isInNetworks, parseNetwork, sharedNetworkOf } from '#rules/access/networks.ts';
import { hasScope, isWithinScopes, KEY_SCOPES } from '#rules/access/scopes.ts';
import { deviceOf } from '#rules/access/sessions.ts';

describe('networks', () => {
  it.each([
    ['203.0.113.7', '203.0.113.0/24', true],
    ['203.0.114.7', '203.0.113.0/24', false],
    ['203.0.113.7', '203.0.113.7', true],
    ['203.0.113.200', '203.0.113.7/24', true],
    ['255.255.255.255', '128.0.0.0/1', true],
    ['::ffff:203.0.113.7', '203.0.113.0/24', true],
    ['203.0.113.7', '::ffff:203.0.113.0/120', true],
    ['2001:db8::1', '2001:db8::/32', true],
    ['2001:DB8:0:0:0:0:0:1', '2001:db8::1', true],
    ['2001:db9::1', '2001:db8::/32', false],
    ['203.0.113.7', '2001:db8::/1', false],
    ['203.0.113.0/25', '203.0.113.0/24', true],
    ['203.0.113.0/24', '203.0.113.0/25', false],
  ])('%s is in %s: %s', (address, network, isIn) => {
    expect(isInNetworks(address, [network])).toBe(isIn);
  });

  it.each([
    ...['', ' ', '1.2.3', '1.2.3.4.5', '01.2.3.4', '1.2.3.256', '1.2.3.4/0', '1.2.3.4/33', '1.2.3.4/', '1.2.3.4/08', '1.2.3.4/8/8'],
    ...[
      '::/0',
      '2001:db8::/129',
      '1:2:3:4:5:6:7',
      '1:2:3:4:5:6:7:8:9',
      '::1::2',
      '1:2:3:4:5:6:7::8',
      'fe80::1%eth0',
      '12345::',
      'g::',
      '::ffff:1.2.3.4/96',
    ],
    ...['localhost', '0x7f.1', '::1.2.3.4.5', ':1:2:3:4:5:6:7:8'],
  ])('%j is no network', (text) => {
    expect(parseNetwork(text)).toBeNull();
  });

  it('agrees with a public library about any address and prefix', () => {
    const v4 = fc.ipV4();
    const v6 = fc.ipV6();
    fc.assert(
      fc.property(
        fc.oneof(fc.tuple(v4, v4, fc.integer({ min: 1, max: 32 })), fc.tuple(v6, v6, fc.integer({ min: 1, max: 128 }))),
        (drawn) => {
          const [address, base, prefix] = drawn;
          fc.pre(ipaddr.isValid(address) && ipaddr.isValid(base));
          const [one, other] = [ipaddr.process(address), ipaddr.process(base)];
          // The library has another opinion on prefixes of mapped addresses.
          fc.pre(one.kind() === other.kind() && other.toNormalizedString().includes(':') === base.includes(':'));
          expect(isInNetworks(address, [`${base}/${prefix}`])).toBe((one as ipaddr.IPv4).match(other as ipaddr.IPv4, prefix));
          expect(isInNetworks(base, [`${base}/${prefix}`])).toBe(true);
        },
      ),
    );
  });

  it('any text is parsed or refused without an exception', () => {
    fc.assert(fc.property(fc.string(), fc.string(), (text, other) => void isInNetworks(`${text}/${other}`, [])));
  });
});

describe('scopes', () => {
  it('write includes read, read does not include write, and no group includes another', () => {
    for (const scope of KEY_SCOPES)
      for (const needed of KEY_SCOPES) {
        const [[group, verb], [neededGroup, neededVerb]] = [scope.split(':'), needed.split(':')];
        expect(hasScope([scope], needed)).toBe(group === neededGroup && (verb === 'write' || neededVerb === 'read'));
      }
  });

  it('scopes are within others exactly if each operation that they allow is allowed', () => {
    const lists = fc.option(fc.uniqueArray(fc.constantFrom(...KEY_SCOPES), { maxLength: 6 }));
    fc.assert(
      fc.property(lists, lists, (next, before) => {
        const allows = (scopes: typeof next) => KEY_SCOPES.filter((scope) => hasScope(scopes, scope));
        const isWithin = allows(next).every((scope) => allows(before).includes(scope)) && (next !== null || before === null);
        expect(isWithinScopes(next, before)).toBe(isWithin);
      }),
    );
  });
});

describe('sharedNetworkOf', () => {
  it('names the /24 of an IPv4 address and the /48 of an IPv6 one, in one spelling', () => {
    const texts = ['203.0.113.9', '::ffff:203.0.113.200', '2001:db8:a:1::9', '2001:0DB8:000a::', '::1', 'unknown'];
    expect(texts.map(sharedNetworkOf)).toEqual([
      '203.0.113.0/24',
      '203.0.113.0/24',
      '2001:db8:a::/48',
      '2001:db8:a::/48',
      '0:0:0::/48',
      'unknown',
    ]);
  });
});

describe('deviceOf', () => {
  it('names network and browser family, whatever version, and the program of other user agents', () => {
    const families = {
      'Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0': 'Edge',
      'Mozilla/5.0 (X11) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 OPR/120.0': 'Opera',
      'Mozilla/5.0 (X11; rv:140.0) Gecko/20100101 Firefox/140.0': 'Firefox',
      'Mozilla/5.0 (iPhone) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/140.0 Mobile/15E148 Safari/604.1': 'Chrome',
      'Mozilla/5.0 (Macintosh) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15': 'Safari',
      'curl/8.9.1': 'curl',
      '': 'unknown',
      '\u202e<b>': 'unknown',
    };
    for (const [userAgent, family] of Object.entries(families))
      expect(deviceOf({ ip: '203.0.113.9', country: null, userAgent })).toBe(`203.0.113.0/24 ${family}`);
  });
});
