export interface CallOutcome {
  keyId: string;
  at: number;
  method: string;
  endpoint: string;
  status: number;
  requestId: string;
  units?: number;
  ip?: string | null;
}

export interface KeyUsage {
  totalCalls: number;
  successCalls: number;
  errorCalls: number;
  creditsBurned: number;
  latestActivityAt: number | null;
  latestEndpoint: string | null;
  latestIp: string | null;
  recent: Omit<CallOutcome, 'keyId' | 'units' | 'ip'>[];
}

export const emptyUsage = (): KeyUsage => ({
  totalCalls: 0,
  successCalls: 0,
  errorCalls: 0,
  creditsBurned: 0,
  latestActivityAt: null,
  latestEndpoint: null,
  latestIp: null,
  recent: [],
});

const RECENT_MAX = 20;

export function addOutcome(usage: KeyUsage, { keyId: _, units = 0, ip = null, ...outcome }: CallOutcome): KeyUsage {
  const failed = outcome.status >= 400;
  return {
    ...usage,
    totalCalls: usage.totalCalls + 1,
    successCalls: usage.successCalls + (failed ? 0 : 1),
    errorCalls: usage.errorCalls + (failed ? 1 : 0),
    creditsBurned: usage.creditsBurned + units,
    latestActivityAt: Math.max(usage.latestActivityAt ?? 0, outcome.at),
    latestEndpoint: `${outcome.method} ${outcome.endpoint}`,
    latestIp: ip ?? usage.latestIp,
    recent: [outcome, ...usage.recent].slice(0, RECENT_MAX),
  };
}
