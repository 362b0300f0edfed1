import { describe, expect, it } from 'vitest';
import { base64url, utf8 } from '#core/encoding.ts';
import { parseCredential } from '#protocols/mpp/wire.ts';

const headerOf = (credential: string): string => `Payment ${base64url.encode(utf8(credential))}`;

describe('parseCredential', () => {
  it.each([
    '{"challenge":{"id":{"length":{"toString":1}}},"payload":{}}',
    '{"challenge":{},"payload":{"channelId":{"length":{"toString":1}}}}',
    `{"challenge":{},"payload":{"size":${'['.repeat(15_000)}${']'.repeat(15_000)}}}`,
    'null',
    'no JSON',
  ])('a malformed credential is refused without throwing: %#', (credential) => {
    expect(parseCredential(headerOf(credential))).toMatchObject({ ok: false, reason: 'malformed' });
  });
});
