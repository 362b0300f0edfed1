/**
 * Two processes derive the same Idempotency-Key from the caller's. So that a replay proves itself to be this request's own lost
 * attempt, each request marks its body, in the fragment of the resource's URL: the service answers a different body under a used
 * key with `idempotency_conflict`, and only the same one with a replay.
 * @module
 */

import { SvcError } from '../errors/svc-error.ts';

export const withMark = <R extends { url: string }>(resource: R, mark: string): R => ({ ...resource, url: `${resource.url}#${mark}` });

/** Removes the mark from a denial's challenge, which goes to the buyer. The mark is ASCII, so the decoded bytes may be edited. */
export function withoutMark(error: unknown, mark: string): unknown {
  const challenge = error instanceof SvcError ? error.headers.get('PAYMENT-REQUIRED') : null;
  if (!(error instanceof SvcError) || challenge === null) return error;
  const headers = new Headers(error.headers);
  headers.set(
    'PAYMENT-REQUIRED',
    edited(challenge, (json) => json.replaceAll(`#${mark}`, '')),
  );
  return new SvcError(error.code, error.message, { ...error, headers });
}

function edited(base64: string, edit: (bytes: string) => string): string {
  try {
    return btoa(edit(atob(base64)));
  } catch {
    return base64;
  }
}
