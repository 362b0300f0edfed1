import { ApiError } from '#core/errors.ts';
import type { SetupIntent } from '#platform/db/tables/setups.ts';
import { SETUP, type SetupStatus } from '#rules/states.ts';

const NEXT = {
  created: 'Send a manifest first.',
  changes_required: 'The manifest has findings of severity error. Correct them and send it again.',
  approved: 'The setup is approved: its manifest cannot change.',
};

/** Returns the state after a transition. Throws 409 state_conflict with the next step if the transition is not allowed. */
export function nextSetupStatus(
  { id, status }: Pick<SetupIntent, 'id' | 'status'>,
  transition: 'accept' | 'refuse' | 'approve',
): SetupStatus {
  if (SETUP.can(status, transition) || status === 'ready' || status === 'expired') return SETUP.next(status, transition);
  const step = status === 'approved' ? 'approve' : 'manifest';
  const next = `POST /v1/access/agent-bootstrap/${id}/${step}`;
  throw new ApiError('state_conflict', { detail: NEXT[status], meta: { state: status, transition, next } });
}
