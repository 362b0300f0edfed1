import { ApiError } from '#core/errors.ts';
import type { Ctx } from '#platform/context.ts';
import type { IdempotentRequest } from '#platform/db/idempotency-record.ts';
import { type EntitlementKey, type GrantProblem, planGrant, type Sold } from '#rules/balance.ts';
import type { GrantAnswer } from '#rules/entitlement-rpc.ts';
import { callMerged, operationOf, tooManyKeys } from './entitlement.ts';

type Granted = Exclude<GrantAnswer, { reason: 'merged' }>;

/**
 * Grants what a product sells without a payment. Throws 409 idempotency_conflict, 422 for units or days that the product does not sell, for
 * neither, or for more than can be counted.
 */
export async function grantEntitlement(
  ctx: Ctx,
  identity: EntitlementKey,
  request: IdempotentRequest,
  { sold, units, days, reason }: { sold: Sold; units?: number | undefined; days?: number | undefined; reason: string },
) {
  const planned = planGrant(sold, { units, days });
  const refusal = 'field' in planned ? planned : null;
  const operation = operationOf(ctx, identity, 'grant', request, { addition: 'field' in planned ? null : planned, reason });
  const answer = await callMerged<Granted>(
    ctx,
    identity,
    (object, identity) => object.grant({ ...operation, identity }) as Promise<Granted>,
  );
  if (answer.ok) return answer;
  if (answer.reason === 'conflict') throw new ApiError('idempotency_conflict');
  if (answer.reason === 'full') throw tooManyKeys(ctx, answer);
  const problem = refusal
    ? { loc: ['body', refusal.field], msg: textOfGrantProblem(sold, refusal), type: refusal.reason }
    : { loc: ['body', 'units'], msg: 'Expected fewer units', type: 'too_big' };
  throw new ApiError('validation_error', { problems: [problem] });
}

const GRANT_PROBLEMS: Record<GrantProblem['reason'], Record<GrantProblem['field'], string>> = {
  not_sold: {
    units: 'The product sells time, not units. Grant days.',
    days: 'The product sells units without an end. Grant units only.',
  },
  nothing_granted: { units: 'Send units, days or both, as the product sells them.', days: 'Send the days to grant.' },
};

const textOfGrantProblem = ({ usageUnits, accessPeriodDays }: Sold, { reason, field }: GrantProblem): string =>
  usageUnits === null && accessPeriodDays === null
    ? 'The product has neither units nor an end. Omit units and days.'
    : GRANT_PROBLEMS[reason][field];
