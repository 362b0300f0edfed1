import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { PICTURE_BYTES_MAX } from '#platform/providers/picture.ts';
import { pngOf } from '../../../local/bench/png.ts';
import { fetchBytes } from '../../support/fixtures/bytes.ts';
import { newKey } from '../../support/people/agent.ts';
import { type Merchant, World } from '../../support/world.ts';

function squareOf(side: number, colour: number[]): Uint8Array<ArrayBuffer> {
  const row = [0, ...Array.from({ length: side }, () => colour).flat()];
  return new Uint8Array(pngOf({ width: side, height: side, depth: 8, colourType: 6 }, Array.from({ length: side }, () => row).flat()));
}

const URL_OF_LOGO = 'https://cdn.shop.com/logo.png';

describe('merchant logo', () => {
  const w = new World();
  let ada: Merchant;
  let receiptId: string;
  let asked: string[];
  let plain: Uint8Array;
  let shown: () => Promise<Response>;
  const picture = squareOf(32, [255, 0, 0, 255]);

  beforeEach(async () => {
    ada = await w.merchant();
    receiptId = (await w.purchase(await w.product(ada), await w.chain.wallet())).confirmed.receipt_id;
    asked = [];
    plain = await readPdf();
    shown = async () => new Response(picture, { headers: { 'content-type': 'image/png' } });
    const network = globalThis.fetch;
    vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
      if (!String(input).startsWith('https://cdn.shop.com/')) return network(input, init);
      asked.push(String(input));
      expect(init?.redirect).toBe('manual');
      return shown();
    });
  });
  afterEach(() => vi.restoreAllMocks());

  const save = (url: string, options = {}) =>
    w.call('PATCH', '/v1/account/me', { key: ada.token, body: { merchant_settings: { checkout_logo_url: url } }, ...options });
  const readPdf = async () => (await fetchBytes(w, `/v1/receipt/${receiptId}/pdf`)).bytes;
  const readLogo = () =>
    w.env.DB.prepare('SELECT url, sha256, length(bytes) AS size FROM brand_logos WHERE merchant_id = ?').bind(ada.userId).first();

  it('the logo is fetched when it is saved, appears on PDFs, and no PDF fetches it again', async () => {
    const { body } = await save(URL_OF_LOGO);
    expect(body).toEqual({ detail: 'Account updated.', updated_fields: ['merchant_settings.checkout_logo_url'] });
    expect([asked, await readLogo()]).toEqual([
      [URL_OF_LOGO],
      { url: URL_OF_LOGO, sha256: expect.stringMatching(/^[0-9a-f]{64}$/), size: picture.length },
    ]);
    const [one, two] = [await readPdf(), await readPdf()];
    expect([one, asked.length]).toEqual([two, 1]);
    expect(one.length).toBeGreaterThan(plain.length);
    await save('');
    expect([await readLogo(), await readPdf()]).toEqual([null, plain]);
  });

  it('each save fetches the logo again, except a replayed request or a patch that does not name it', async () => {
    const headers = { 'Idempotency-Key': newKey() };
    await save(URL_OF_LOGO, { headers });
    await save(URL_OF_LOGO, { headers });
    expect(asked).toHaveLength(1);
    const other = squareOf(8, [0, 0, 255, 255]);
    shown = async () => new Response(other);
    expect((await save(URL_OF_LOGO)).body.updated_fields).toEqual([]);
    expect([asked.length, (await readLogo())!.size]).toEqual([2, other.length]);
    await w.call('PATCH', '/v1/account/me', { key: ada.token, body: { display_name: 'Ada' } });
    expect(asked).toHaveLength(2);
  });

  it.each<[string, () => Promise<Response>]>([
    ['is no picture', async () => new Response('<svg onload="alert(1)"/>')],
    ['is cut off', async () => new Response(picture.slice(0, 60))],
    ['is nothing', async () => new Response(null)],
    ['is too large', async () => new Response(new Uint8Array(PICTURE_BYTES_MAX + 1))],
    ['never ends', async () => new Response(new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(65_536)) }))],
    ['is elsewhere', async () => new Response(null, { status: 302, headers: { location: 'http://169.254.169.254/' } })],
    ['is gone', async () => new Response('no', { status: 404 })],
    ['takes too long', async () => Promise.reject(new DOMException('timeout', 'TimeoutError'))],
    ['cannot be reached', async () => Promise.reject(new TypeError('connect failed'))],
  ])('a logo that %s is not stored: its URL is saved, the answer says why, and PDFs show no logo', async (_what, answer) => {
    await save(URL_OF_LOGO);
    shown = answer;
    const { status, body } = await save('https://cdn.shop.com/other.png');
    expect([status, body.updated_fields]).toEqual([200, ['merchant_settings.checkout_logo_url']]);
    expect(body.detail).toMatch(/^Account updated\. PDF receipts have no logo: .{10,}\. Save the logo again to retry\.$/);
    expect([await readLogo(), await readPdf()]).toEqual([null, plain]);
  });

  it.each(['https://cdn.shop.com:22/', 'https://intern.corp/logo.png', 'https://redis.local:6379/', 'https://svc.test/logo.png'])(
    'a logo at %s is never requested, because the URL is not public',
    async (url) => {
      const called = vi.mocked(globalThis.fetch).mock.calls.length;
      const { status, body } = await save(url);
      expect([status, await readLogo(), vi.mocked(globalThis.fetch).mock.calls.length - called]).toEqual([200, null, 0]);
      expect(body.detail).toContain('PDF receipts have no logo: the URL is not a public https URL on port 443 or 8443.');
    },
  );

  it('the logo is deleted with the account', async () => {
    await save(URL_OF_LOGO);
    await w.call('DELETE', '/v1/account/account', { key: ada.token });
    expect(await readLogo()).toBeNull();
  });
});
