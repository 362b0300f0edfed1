import type { Actions, PageFacts, State } from './model.ts';
import type { Say } from './text.ts';

/** Everything of the page that changes. Rendered on the server once, then by the browser; without state of its own. */
export interface PanelProps {
  facts: PageFacts;
  state: State;
  say: Say;
  /** Absent on the server: nothing can be done before the browser is there. */
  actions?: Actions;
}

/** Receives the focus when the step changes, so that a screen reader goes on where something happened. */
export const Title = ({ children }: { children?: unknown }) => (
  <h2 id="panel-title" tabindex={-1}>
    {children}
  </h2>
);

export const Mark = ({ kind }: { kind: 'done' | 'failed' | 'time' }) => (
  <svg class={`mark mark-${kind}`} viewBox="0 0 48 48" width="48" height="48" aria-hidden="true">
    <circle cx="24" cy="24" r="22" />
    {kind === 'done' && <path d="M14 25l7 7 13-15" />}
    {kind === 'failed' && <path d="M24 13v14M24 33.5v.5" />}
    {kind === 'time' && <path d="M24 13v12l8 5" />}
  </svg>
);

export const Spinner = () => <span class="spinner" aria-hidden="true" />;

export const ProblemNote = ({ state, say }: PanelProps) =>
  state.problem ? (
    <div class="problem">
      <strong>{say('problem')}</strong>
      <p>{say(state.problem.key, state.problem.values)}</p>
    </div>
  ) : null;

export const Signature = ({ say, signature }: { say: Say; signature: string | null }) =>
  signature ? (
    <details class="signature">
      <summary>{say('signature')}</summary>
      <code>{signature}</code>
    </details>
  ) : null;
