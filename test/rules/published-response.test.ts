import { describe, expect, it } from 'vitest';
import { expectPublishedResponse } from '../support/clients/call.ts';

describe('expectPublishedResponse', () => {
  const error = (code: string) => ({ detail: 'why', code, request_id: 'req_1', docs_url: 'https://svc.test/', retryable: false, meta: {} });

  it('an error code that the route does not publish for its status fails', () => {
    expect(() => expectPublishedResponse('GET', '/v1/products', 401, error('invalid_authorization'))).not.toThrow();
    expect(() => expectPublishedResponse('GET', '/v1/products', 401, error('invalid_credentials'))).toThrow(/does not name/);
    expect(() => expectPublishedResponse('GET', '/v1/products', 403, error('handoff_secret_mismatch'))).toThrow(/does not name/);
    expect(() => expectPublishedResponse('GET', '/v1/products', 409, error('state_conflict'))).toThrow(/does not name/);
  });

  it('a body that does not match its published schema fails', () => {
    const refused = error('invalid_authorization');
    expect(() => expectPublishedResponse('GET', '/v1/products', 401, { ...refused, retryable: 'no' })).toThrow(/retryable/);
    expect(() => expectPublishedResponse('GET', '/v1/products', 200, { items: [{}], next_cursor: null })).toThrow(/items/);
  });
});
