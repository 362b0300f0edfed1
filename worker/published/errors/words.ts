import type { ErrorCode } from '#core/errors.ts';
import { REFUSED_REQUESTS } from './refused-requests.ts';
import { REFUSED_STATES } from './refused-states.ts';

export interface ErrorHelp {
  why: string;
  next: string;
}

/** Codes without a route are included. */
export const ERROR_HELP: Readonly<Record<ErrorCode, ErrorHelp>> = { ...REFUSED_REQUESTS, ...REFUSED_STATES };
