import { Table } from '../../../parts/table.tsx';
import { acted, idempotent } from '../../frame/acts.ts';
import { ActForm, ActSection, SelectField, TextField } from '../../frame/fields.tsx';
import { Time } from '../../frame/format.tsx';
import { linkTo } from '../../frame/head.tsx';
import { Facts } from '../../frame/list.tsx';
import type { Definition } from '../../frame/screen.tsx';

interface Scenario {
  scenario: string;
  description: string;
}
interface Session {
  session_id: string;
  scenario: string;
  status: string;
  clock: { now: string; advanced_seconds: number };
  objects: { type: string; id: string }[];
  steps: { at: string; action: string; state?: string; event_id?: string; event_type?: string }[];
  deliveries: { sent: number; succeeded: number; failed: number };
  created_at: string;
}

/** Scenarios run with test data alone, whatever mode the page has. */
const TEST = { mode: 'sandbox' } as const;

export const SANDBOX: Definition = {
  path: '/dashboard/sandbox',
  title: 'Sandbox',
  async body(screen) {
    const { operations } = screen;
    const [scenarios, sessions] = await Promise.all([
      operations.call<{ items: Scenario[] }>('listScenarios', { query: TEST }),
      operations.call<{ items: Session[] }>('listSandboxSessions', { query: TEST }),
    ]);
    if (!scenarios.ok) return scenarios;
    const options = scenarios.value.items.map(({ scenario }) => [scenario, scenario.replaceAll('_', ' ')] as const);
    const played = sessions.ok ? sessions.value.items : [];
    return (
      <>
        <ActSection screen={screen} act="run" title="Play a sale">
          <p>
            A scenario pays, fails or renews on a simulated chain, and your test endpoints get its events. It runs in test mode.{' '}
            <a href="/docs/sandbox">More</a>
          </p>
          <ActForm screen={screen} act="run" submit="Run">
            <SelectField screen={screen} act="run" name="scenario" label="Scenario" options={options} />
          </ActForm>
        </ActSection>
        {played.length > 0 && (
          <section>
            <Table
              caption="Sessions, newest first"
              head={['Session', 'Status', 'Events delivered', 'When']}
              rows={played.map(({ session_id: id, scenario, status, deliveries, created_at: at }) => [
                <a href={linkTo(TEST, `/dashboard/sandbox/${id}`)}>{scenario.replaceAll('_', ' ')}</a>,
                status,
                `${deliveries.succeeded} of ${deliveries.sent}`,
                <Time at={at} />,
              ])}
            />
          </section>
        )}
        <details>
          <summary>What each scenario plays</summary>
          <Table
            caption="Scenarios"
            head={['Scenario', 'What happens']}
            rows={scenarios.value.items.map(({ scenario, description }) => [
              scenario.replaceAll('_', ' '),
              description.replaceAll('`', ''),
            ])}
          />
        </details>
      </>
    );
  },
  acts: {
    run: {
      needs: 'sandbox:write',
      done: 'The scenario runs. Reload the page to see its steps.',
      async run({ operations }, form) {
        const made = await operations.call<Session>('createSandboxSession', {
          query: TEST,
          body: { scenario: form.scenario },
          ...idempotent(form),
        });
        return made.ok ? { ok: true, leaveTo: linkTo(TEST, `/dashboard/sandbox/${made.value.session_id}`) } : made;
      },
    },
  },
};

export const SANDBOX_SESSION: Definition = {
  path: '/dashboard/sandbox/:session_id',
  title: 'Sandbox session',
  async body(screen) {
    const params = { session_id: screen.c.req.param('session_id') ?? '' };
    const session = await screen.operations.call<Session>('getSandboxSession', { params, query: TEST });
    if (!session.ok) return session;
    const { scenario, status, clock, steps, deliveries } = session.value;
    return (
      <>
        <section>
          <Facts
            rows={[
              ['Scenario', scenario.replaceAll('_', ' ')],
              ['Status', status],
              ['Clock of the session', <Time at={clock.now} />],
              ['Events delivered', `${deliveries.succeeded} of ${deliveries.sent}`],
            ]}
          />
          {status === 'running' && (
            <p>
              <a href={linkTo(TEST, screen.path)}>Reload</a>
            </p>
          )}
        </section>
        <section>
          <Table
            caption="Steps"
            head={['Step', 'State', 'Event', 'When']}
            rows={steps.map(({ at, action, state, event_id: eventId, event_type: type }) => [
              action.replaceAll('_', ' '),
              state,
              eventId && <a href={linkTo(TEST, `/dashboard/webhooks/events/${eventId}`)}>{type}</a>,
              <Time at={at} />,
            ])}
          />
        </section>
        <ActSection screen={screen} act="advance" title="Advance the clock">
          <ActForm screen={screen} act="advance" submit="Advance the clock">
            <TextField screen={screen} act="advance" name="seconds" label="Seconds" help="A day is 86400" value="86400" />
          </ActForm>
        </ActSection>
      </>
    );
  },
  acts: {
    advance: {
      needs: 'sandbox:write',
      done: 'The clock is advanced.',
      run: async ({ c, operations }, form) =>
        acted(
          await operations.call('advanceSandboxSession', {
            params: { session_id: c.req.param('session_id') ?? '' },
            query: TEST,
            body: { seconds: Number(form.seconds) },
            ...idempotent(form),
          }),
        ),
    },
  },
};
