import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { base58, base58Bytes, base62, base64url, canonicalJson, randomBase62 } from '#core/encoding.ts';
import {
  type AccountId,
  actIdOf,
  actKeyOf,
  admissionIdOf,
  eventIdOf,
  generatedSlug,
  newAuthorizationId,
  newEventId,
  newId,
  newIdIn,
  newMeteredSessionId,
  newNonce,
  PARTITIONS,
  type Partition,
  PartitionMap,
  parsePartitions,
  partitionOf,
  partitionOfAdmission,
  partitionOfNonce,
  partitionOfSlug,
  planProductIdOf,
  SERVICE_ACCOUNT_ID,
} from '#core/ids.ts';

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const numberOf = (text: string) => [...text].reduce((sum, digit) => sum * 62n + BigInt(DIGITS.indexOf(digit)), 0n);
const milliseconds = fc.integer({ min: 0, max: 2 ** 48 - 1 });
const timeOf = (id: string) => Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);

describe('byte encodings', () => {
  it('base62 has a fixed width, most significant digit first, and loses no bit', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (value) => {
        const text = base62(value, 11);
        expect(text).toMatch(/^[0-9A-Za-z]{11}$/);
        expect(numberOf(text)).toBe(value);
      }),
    );
    expect(base62(0n, 6)).toBe('000000');
    expect(base62(61n, 2)).toBe('0z');
    expect(base62(62n, 2)).toBe('10');
    expect(base62(2n ** 32n - 1n, 6)).toBe('4gfFC3');
  });

  it('random base62 digits have the requested length and an even distribution', () => {
    const counts = new Map<string, number>();
    for (const digit of randomBase62(62_000)) counts.set(digit, (counts.get(digit) ?? 0) + 1);
    expect(counts.size).toBe(62);
    // 1000 expected per digit with standard deviation 32. Eight of them never happen, while a modulo bias adds 250 to some digits.
    for (const [digit, count] of counts) expect(Math.abs(count - 1000), digit).toBeLessThan(250);
    expect([0, 1, 21, 24].map((length) => randomBase62(length).length)).toEqual([0, 1, 21, 24]);
  });

  it('base64url round-trips without padding', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        const text = base64url.encode(bytes);
        expect(text).toMatch(/^[\w-]*$/);
        expect(base64url.decode(text)).toEqual(bytes);
      }),
    );
    expect(base64url.encode(Uint8Array.of(251, 255, 190))).toBe('-_--');
    expect(() => base64url.decode('+/==')).toThrow();
  });

  it('base58 decodes exactly the requested number of bytes, and refuses other texts', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (bytes) => {
        expect(base58Bytes(base58.encode(bytes), 32)).toEqual(bytes);
        expect(base58Bytes(base58.encode(bytes), 31)).toBeNull();
        expect(base58Bytes(base58.encode(bytes), 33)).toBeNull();
      }),
    );
    const address = base58.encode(new Uint8Array(32).fill(7));
    for (const broken of [`${address} `, ` ${address}`, address.replace(/.$/, '0'), address.replace(/.$/, 'l'), '', '1'.repeat(5000)])
      expect(base58Bytes(broken, 32), broken.slice(0, 50)).toBeNull();
  });
});

describe('canonical JSON (RFC 8785)', () => {
  it('keys are ordered by UTF-16 units, as in the example of the RFC', () => {
    const sample = {
      '\u20ac': 'Euro Sign',
      '\r': 'Carriage Return',
      '\ufb33': 'Hebrew Letter Dalet With Dagesh',
      '1': 'One',
      '\ud83d\ude00': 'Emoji: Grinning Face',
      '\u0080': 'Control',
      '\u00f6': 'Latin Small Letter O With Diaeresis',
    };
    expect(canonicalJson(sample)).toBe(
      '{"\\r":"Carriage Return","1":"One","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis",' +
        '"\u20ac":"Euro Sign","\ud83d\ude00":"Emoji: Grinning Face","\ufb33":"Hebrew Letter Dalet With Dagesh"}',
    );
  });

  it('strings, literals and integers match the RFC, without whitespace', () => {
    const sample = { string: '\u20ac$\u000f\nA\'B"\\\\"/', literals: [null, true, false], integers: [0, -0, 9007199254740991] };
    expect(canonicalJson(sample)).toBe(
      '{"integers":[0,0,9007199254740991],"literals":[null,true,false],"string":"\u20ac$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    );
  });

  it('equal values give one text in any key order, and values that JSON cannot express are left out', () => {
    expect(canonicalJson({ b: { d: 1, c: 2 }, a: [3, { z: 1, y: 2 }] })).toBe('{"a":[3,{"y":2,"z":1}],"b":{"c":2,"d":1}}');
    expect(canonicalJson({ a: undefined, b: 1 })).toBe('{"b":1}');
    expect(() => canonicalJson(undefined)).toThrow();
    fc.assert(
      fc.property(
        fc.dictionary(fc.string({ unit: 'grapheme' }), fc.oneof(fc.string({ unit: 'grapheme' }), fc.integer(), fc.boolean())),
        (value) => {
          const text = canonicalJson(value);
          const reversed = Object.fromEntries(Object.entries(value).reverse());
          expect(canonicalJson(reversed)).toBe(text);
          expect(canonicalJson(JSON.parse(text))).toBe(text);
          expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
        },
      ),
    );
  });

  it('Unicode stays unchanged: no normalisation, and no unneeded escapes', () => {
    expect(canonicalJson(['e\u0301', '\u00e9', '\u2028', '\u007f'])).toBe('["e\u0301","\u00e9","\u2028","\u007f"]');
    expect(canonicalJson('\u0001\b\t\f')).toBe('"\\u0001\\b\\t\\f"');
  });
});

const OWNER = newIdIn<AccountId>(1, 7 as Partition);
const partitions = fc.integer({ min: 0, max: PARTITIONS - 1 }) as fc.Arbitrary<Partition>;

describe('partitions', () => {
  it('every id of a merchant contains the partition of its account', () => {
    fc.assert(
      fc.property(milliseconds, partitions, (now, partition) => {
        const account = newIdIn<AccountId>(now, partition);
        const ids = [account, newId(now, account), newMeteredSessionId(now, account), newAuthorizationId(now, account)];
        const actId = actIdOf(now, account, newId(now, account), 3);
        expect([...ids, newEventId(now, account), eventIdOf(actId, 31)].map(partitionOf)).toEqual(Array(6).fill(partition));
        expect(partitionOfAdmission(admissionIdOf(account))).toBe(partition);
        expect(partitionOfNonce(newNonce(account))).toBe(partition);
        expect(partitionOfSlug(generatedSlug('weather-api', account))).toBe(partition);
      }),
    );
  });

  it('the key of an act follows from its subject, in whatever merchant’s partition', () => {
    const account = newIdIn<AccountId>(5, 0xabc as Partition);
    const payment = newId(6, account);
    expect(actIdOf(7, account, payment, 2).slice(14)).toBe(actKeyOf(payment, 2));
    expect(actKeyOf(payment, 2)).not.toBe(actKeyOf(payment, 3));
  });

  it('ids that the service did not make, or that follow from their content, have none', () => {
    const foreign = [
      '',
      'x',
      crypto.randomUUID(),
      SERVICE_ACCOUNT_ID,
      planProductIdOf('growth'),
      `con_${'0'.repeat(26)}`,
      `evt_${'8'.repeat(26)}`,
    ];
    expect(foreign.map(partitionOf)).toEqual(foreign.map(() => null));
    expect(partitionOfNonce('not-a-nonce')).toBeNull();
  });

  it('a slug that a merchant chose passes for a generated one less than once in 500 times', () => {
    let passing = 0;
    for (let i = 0; i < 20_000; i++) {
      const digits = Array.from(crypto.getRandomValues(new Uint8Array(10)), (byte) => '0123456789abcdefghjkmnpqrstvwxyz'[byte % 32]).join(
        '',
      );
      if (partitionOfSlug(`chosen-${digits}`) !== null) passing++;
    }
    // Expects one in 1,024, which is 20, with a standard deviation of 4.4.
    expect(passing).toBeLessThan(40);
    expect(partitionOfSlug('weather-api')).toBeNull();
  });
});

describe('ids', () => {
  it('ids are UUIDv7 with version, variant and the millisecond of creation', () => {
    fc.assert(
      fc.property(milliseconds, (now) => {
        const id = newId(now, null);
        expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
        expect(timeOf(id)).toBe(now);
      }),
    );
  });

  it('ids sort as text in the order of their milliseconds', () => {
    fc.assert(
      fc.property(milliseconds, milliseconds, (a, b) => {
        fc.pre(a !== b);
        expect(newId(a, null) < newId(b, null)).toBe(a < b);
        expect(newEventId(a, OWNER) < newEventId(b, OWNER)).toBe(a < b);
      }),
    );
  });

  it('ids have 62 random bits and the partition, each of which is 0 about as often as 1', () => {
    const runs = 2000;
    const ones = new Array<number>(128).fill(0);
    for (let run = 0; run < runs; run++) {
      const bits = BigInt(`0x${newId(1_700_000_000_000, null).replaceAll('-', '')}`)
        .toString(2)
        .padStart(128, '0');
      for (let i = 0; i < 128; i++) ones[i]! += bits[i] === '1' ? 1 : 0;
    }
    const varying = ones.filter((count) => count > 0 && count < runs);
    expect(varying).toHaveLength(62);
    // 1000 expected, standard deviation 22.
    for (const count of varying) expect(Math.abs(count - runs / 2)).toBeLessThan(200);
  });

  it('the admission object’s name derives from the last 64 bits of the id, in 11 digits', () => {
    const hex = (length: number) => fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: length, maxLength: length });
    fc.assert(
      fc.property(hex(16), hex(16), hex(16), (high, other, low) => {
        const uuid = (digits: string) => digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
        const admissionId = admissionIdOf(uuid(high + low));
        expect(admissionId).toMatch(/^[0-9A-Za-z]{11}$/);
        expect(admissionIdOf(uuid(other + low))).toBe(admissionId);
        expect(numberOf(admissionId)).toBe(BigInt(`0x${low}`));
      }),
    );
  });

  it('event ids are `evt_` and a ULID of the millisecond of creation', () => {
    const crockford = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
    fc.assert(
      fc.property(milliseconds, (now) => {
        const id = newEventId(now, OWNER);
        expect(id).toMatch(/^evt_[0-7][0-9A-HJKMNP-TV-Z]{25}$/);
        expect([...id.slice(4, 14)].reduce((sum, digit) => sum * 32 + crockford.indexOf(digit), 0)).toBe(now);
      }),
    );
    expect(new Set(Array.from({ length: 1000 }, () => newEventId(1, OWNER))).size).toBe(1000);
  });
});

describe('PartitionMap', () => {
  const map = new PartitionMap(parsePartitions('000-007:DB 008-017:DB_2 020:DB_3')!);

  it('a partition has the database of its range, and none outside of the ranges', () => {
    const databases = [0, 7, 8, 0x17, 0x18, 0x20, 4095].map((partition) => map.databaseAt(partition as Partition));
    expect(databases).toEqual(['DB', 'DB', 'DB_2', 'DB_2', null, 'DB_3', null]);
  });

  it('a seed always draws the same partition, and each database gets the share of its partitions', () => {
    const drawn = Array.from({ length: 20_000 }, (_, i) => map.drawBy(`person-${i}@example.com`, ['DB', 'DB_2', 'DB_3']));
    expect(map.drawBy('person-7@example.com', ['DB', 'DB_2', 'DB_3'])).toBe(drawn[7]);
    const shareOf = (database: string) => drawn.filter((partition) => map.databaseAt(partition) === database).length / drawn.length;
    expect(shareOf('DB')).toBeCloseTo(8 / 25, 1);
    expect(shareOf('DB_2')).toBeCloseTo(16 / 25, 1);
    expect(new Set(drawn).size).toBe(25);
  });

  it('a draw never leaves the open databases', () => {
    const drawn = Array.from({ length: 1000 }, (_, i) => map.databaseAt(map.drawBy(String(i), ['DB_2', 'DB_3'])));
    expect(new Set(drawn)).toEqual(new Set(['DB_2', 'DB_3']));
    expect(() => map.drawBy('x', ['DB_9'])).toThrow('PARTITIONS');
  });

  it.each(['', 'DB', '000-007', '0-7:DB', '007-000:DB', '000-007:DIRECTORY'])('%j is no list of partitions', (text) => {
    expect(parsePartitions(text)).toBeNull();
  });
});
