import { commandOf } from './plan.ts';
import type { Outcome } from './run-history.ts';

const FINDINGS_MAX = 5;

/** Steps that explain a finding: requests, answers, faults and deaths of isolates. */
const EXPLAINING = /FAULT|arrives:|answers:|answered:|fails:|isolate \d .*dies|pause/;

/** A finding for who reads it: what is wrong, in which history, and how to see it again. */
export function describeFinding({ plan, findings, struck, log, trace }: Outcome): string[] {
  const { seed, size } = plan;
  return [
    `seed ${seed}, ${size.actors} actors, ${size.steps} steps each, ${struck.length} faults:`,
    ...findings.slice(0, FINDINGS_MAX).map((finding) => `  - ${finding}`),
    ...(findings.length > FINDINGS_MAX ? [`  - and ${findings.length - FINDINGS_MAX} more`] : []),
    'what happened:',
    ...log.map((line) => `  ${line}`),
    ...(struck.length > 0
      ? [
          'faults:',
          ...struck.map(({ kind, ordinal, way, invocation }) => `  ${ordinal} ${kind} at ${way}${invocation && ` of ${invocation}`}`),
        ]
      : []),
    'interleaving:',
    ...trace.filter((line) => EXPLAINING.test(line)).map((line) => `  ${line.slice(0, 240)}`),
    `again: ${commandOf(plan)}`,
  ];
}
