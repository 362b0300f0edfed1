import { plainName } from '../../parts/text.ts';
import { loginPathOf } from '../facts.ts';
import { Field, Form, FreshProblem } from '../parts.tsx';
import type { OpenDashboard } from './machine.ts';
import type { DashboardProps } from './props.ts';

export function Keys(props: DashboardProps<OpenDashboard>) {
  const { say, state } = props;
  return (
    <section class="panel" aria-labelledby="keys">
      <h2 id="keys">{say('keys')}</h2>
      {state.keys.length === 0 && <p class="quiet">{say('noKeys')}</p>}
      <ul class="rows" hidden={state.keys.length === 0}>
        {state.keys.map((key) => (
          <li key={key.id}>
            <bdi>{plainName(key.name)}</bdi>
            <span>
              <code>{key.prefix}…</code> <small class="quiet">{say(key.isLive ? 'live' : 'test')}</small>
            </span>
          </li>
        ))}
      </ul>
      {state.made ? <MadeKey {...props} made={state.made} /> : <NewKey {...props} />}
    </section>
  );
}

function MadeKey({ say, actions, made }: DashboardProps<OpenDashboard> & { made: NonNullable<OpenDashboard['made']> }) {
  const what = say('keyMade', { name: plainName(made.name) });
  const isCopied = made.copied === 'copied';
  return (
    <div class="way made-key">
      <h3 id="made-key" tabindex={-1}>
        {what}
      </h3>
      <p>{say('keyOnce')}</p>
      <div class="copies">
        <code class="value" id="raw-key">
          {made.rawKey}
        </code>
        <button
          type="button"
          class="copy"
          aria-label={`${say(isCopied ? 'copied' : 'copy')}: ${what}`}
          onClick={(event: Event) => actions?.copyKey(event)}
        >
          {say(isCopied ? 'copied' : made.copied === 'selected' ? 'selected' : 'copy')}
        </button>
      </div>
      {made.copied === 'selected' && <p class="quiet">{say('copyByHand')}</p>}
      <button type="button" class="plain-button" onClick={() => actions?.storeKey()}>
        {say('keyKept')}
      </button>
    </div>
  );
}

const KINDS = [
  { value: 'test', label: 'testKey', help: 'testKeyHelp' },
  { value: 'live', label: 'liveKey', help: 'liveKeyHelp' },
] as const;

function NewKey({ facts, say, state, actions }: DashboardProps<OpenDashboard>) {
  const { isBusy, problem } = state.making;
  return (
    <div class="way">
      <FreshProblem problem={problem} say={say} again={loginPathOf(facts, { next: facts.dashboardPath, why: 'again' })} />
      <Form submit={say('makeKey')} isBusy={isBusy} onSubmit={actions?.enterKey}>
        <Field name="key-name" label={say('keyName')} type="text" autocomplete="off" />
        <fieldset class="kinds">
          <legend>{say('keyKind')}</legend>
          {KINDS.map(({ value, label, help }) => (
            <label key={value}>
              <input type="radio" name="kind" value={value} checked={value === 'test'} />
              <span>
                {say(label)}
                <small class="quiet">{say(help)}</small>
              </span>
            </label>
          ))}
        </fieldset>
      </Form>
    </div>
  );
}
