import type { ErrorCode } from '#core/errors.ts';
import { REFUSED_REQUESTS } from './refused-requests.ts';
import { REFUSED_STATES } from './refused-states.ts';

/** What a person is told of an error code beside its message: how it comes about, and what to do next. */
export interface ErrorWords {
  why: string;
  next: string;
}

/** The words of every code. Those of codes that no route answers yet are left alone. */
export const ERROR_WORDS: Readonly<Record<ErrorCode, ErrorWords>> = { ...REFUSED_REQUESTS, ...REFUSED_STATES };
