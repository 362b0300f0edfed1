import { describe, expect, it } from 'vitest';
import { bodyOf, requestOfRoute, searchOf } from '../../../worker/features/catalogue/probe-request.ts';
import { type HttpRoute, matchRoute } from '../../../worker/protocols/x402/discovery.ts';

const ORIGIN = 'https://api.shop.example';
const route = (fields: Partial<HttpRoute>): HttpRoute => ({ method: 'GET', path: '/search', mime_type: 'application/json', ...fields });
const forecast = (example: HttpRoute['example']) => route({ path: '/forecast/:country/:city', example });
const readForm = ({ body, contentType }: { body: string; contentType: string }) =>
  new Response(body, { headers: { 'Content-Type': contentType } }).formData();

describe('requestOfRoute', () => {
  it.each<[HttpRoute, string]>([
    [route({}), '/search'],
    [route({ query: { type: 'object' } }), '/search'],
    [route({ example: { query: { q: 'rain' } } }), '/search?q=rain'],
    [route({ query: { type: 'object' }, example: { query: { day: [1, 'x y'], dry: true } } }), '/search?day=1&day=x+y&dry=true'],
    [forecast({ path_params: { country: 'a/b', city: 'São Paulo' } }), '/forecast/a%2Fb/S%C3%A3o%20Paulo'],
    [forecast({ path_params: { country: '?#', city: '100%' }, query: { a: 1 } }), '/forecast/%3F%23/100%25?a=1'],
    [forecast({ path_params: { country: 'fr', city: 75_001 } }), '/forecast/fr/75001'],
  ])('requestOfRoute builds the URL that the route matches, case %#', (described, target) => {
    const request = requestOfRoute(ORIGIN, described);
    expect(request).toEqual({ method: 'GET', url: ORIGIN + target });
    expect(matchRoute([described], { url: request!.url, method: 'GET' })?.route).toBe(described);
  });

  it('requestOfRoute returns null without an example of each parameter', () => {
    const examples: HttpRoute['example'][] = [undefined, {}, { path_params: {} }, { path_params: { country: 'fr' } }];
    expect(examples.map((example) => requestOfRoute(ORIGIN, forecast(example)))).toEqual([null, null, null, null]);
    const inherited = route({ path: '/:toString', example: { path_params: {} } });
    expect(requestOfRoute(ORIGIN, inherited)).toBeNull();
  });

  it.each(['GET', 'HEAD', 'DELETE'] as const)('requestOfRoute sends no body for %s', (method) => {
    const described = route({ method, body_type: 'json', example: { body: { city: 'paris' } } });
    expect(requestOfRoute(ORIGIN, described)).toEqual({ method, url: `${ORIGIN}/search` });
  });

  it.each(['POST', 'PUT', 'PATCH'] as const)('requestOfRoute sends the body of the example for %s', (method) => {
    const sent = { method, url: `${ORIGIN}/search?dry=true`, body: '{"city":"paris"}', contentType: 'application/json' };
    expect(requestOfRoute(ORIGIN, route({ method, example: { query: { dry: true }, body: { city: 'paris' } } }))).toEqual(sent);
    const empty = { method, url: `${ORIGIN}/search`, body: '{}', contentType: 'application/json' };
    expect(requestOfRoute(ORIGIN, route({ method }))).toEqual(empty);
  });

  it('requestOfRoute sends the type of body that the route names', async () => {
    const example = { body: { city: 'paris' } };
    const text = requestOfRoute(ORIGIN, route({ method: 'POST', body_type: 'text', example }));
    expect(text).toMatchObject({ body: '{"city":"paris"}', contentType: 'text/plain' });
    const form = requestOfRoute(ORIGIN, route({ method: 'POST', body_type: 'form-data', example }));
    expect([...(await readForm(form as { body: string; contentType: string }))]).toEqual([['city', 'paris']]);
  });
});

describe('searchOf', () => {
  it.each<[Record<string, unknown>, string]>([
    [{}, ''],
    [{ a: [] }, ''],
    [{ a: 'b', c: 1, d: false }, '?a=b&c=1&d=false'],
    [{ a: ['x', 2, true] }, '?a=x&a=2&a=true'],
    [{ 'a b': '&=+' }, '?a+b=%26%3D%2B'],
    [{ a: { b: 1 }, c: null }, '?a=%7B%22b%22%3A1%7D&c=null'],
    [{ a: [{ b: 1 }, [2]] }, '?a=%7B%22b%22%3A1%7D&a=%5B2%5D'],
  ])('searchOf(%j) is %s', (values, expected) => expect(searchOf(values)).toBe(expected));
});

describe('bodyOf', () => {
  it('bodyOf writes JSON, also for a type that it does not know', () => {
    const sent = { body: '{"a":[1,null]}', contentType: 'application/json' };
    expect([bodyOf('json', { a: [1, null] }), bodyOf('other', { a: [1, null] })]).toEqual([sent, sent]);
  });

  it('bodyOf writes a text as it is, anything else as JSON', () => {
    expect(bodyOf('text', 'a "b"')).toEqual({ body: 'a "b"', contentType: 'text/plain' });
    expect(bodyOf('text', { a: 1 })).toEqual({ body: '{"a":1}', contentType: 'text/plain' });
  });

  it('bodyOf writes a form that a server reads', async () => {
    const form = await readForm(bodyOf('form-data', { city: 'São\r\nPaulo', days: 2, area: { b: [1] }, dry: true }));
    expect([...form]).toEqual([
      ['city', 'São\r\nPaulo'],
      ['days', '2'],
      ['area', '{"b":[1]}'],
      ['dry', 'true'],
    ]);
  });

  it('bodyOf escapes the name of a field', () => {
    const { body } = bodyOf('form-data', { 'a"\r\nX: y': 1 });
    expect(body.split('\r\n')[1]).toBe('Content-Disposition: form-data; name="a%22%0D%0AX%3A%20y"');
  });

  it.each([null, 'text', 3])('bodyOf writes an empty form for %j', (value) => {
    expect(bodyOf('form-data', value)).toEqual({
      body: '--svc-catalogue--\r\n',
      contentType: 'multipart/form-data; boundary=svc-catalogue',
    });
  });
});
