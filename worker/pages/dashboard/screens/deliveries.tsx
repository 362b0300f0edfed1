import { acted, idempotent } from '../frame/acts.ts';
import { ActForm, Table } from '../frame/fields.tsx';
import { Time } from '../frame/format.tsx';
import { linkTo } from '../frame/head.tsx';
import { Facts } from '../frame/list.tsx';
import type { Definition } from '../frame/screen.tsx';
import type { Delivery } from './webhooks.tsx';

interface SentDelivery extends Delivery {
  endpoint_id: string;
  response_excerpt?: string;
  next_attempt_at?: string | null;
  request?: { url: string; headers: Record<string, string>; body: string };
  attempts: { at: string; response_status?: number; response_ms?: number; error?: string }[];
}

export const DELIVERY: Definition = {
  path: '/dashboard/webhooks/deliveries/:delivery_id',
  title: 'Delivery',
  async body(screen) {
    const { c, operations, mode } = screen;
    const sent = await operations.call<SentDelivery>('getWebhookDelivery', {
      params: { delivery_id: c.req.param('delivery_id') ?? '' },
      query: { mode },
    });
    if (!sent.ok) return sent;
    const { value } = sent;
    return (
      <>
        <section>
          <Facts
            rows={[
              ['Event', <a href={linkTo(screen, `/dashboard/webhooks/events/${value.event_id}`)}>{value.event_type}</a>],
              ['Endpoint', <a href={linkTo(screen, `/dashboard/webhooks/${value.endpoint_id}`)}>{value.endpoint_id}</a>],
              ['Status', value.status],
              ['Next attempt', value.next_attempt_at && <Time at={value.next_attempt_at} />],
            ]}
          />
          <ActForm screen={screen} act="replay" submit="Replay" />
        </section>
        <section>
          <Table
            caption="Attempts"
            head={['When', 'Response', 'Milliseconds']}
            rows={value.attempts.map(({ at, response_status: status, response_ms: ms, error }) => [<Time at={at} />, status ?? error, ms])}
          />
          {value.response_excerpt !== undefined && (
            <>
              <h2>Response</h2>
              <pre tabindex={0}>{value.response_excerpt}</pre>
            </>
          )}
        </section>
        {value.request && (
          <section>
            <h2>Request</h2>
            <pre tabindex={0}>
              {[
                `POST ${value.request.url}`,
                ...Object.entries(value.request.headers).map(([name, text]) => `${name}: ${text}`),
                '',
                value.request.body,
              ].join('\n')}
            </pre>
          </section>
        )}
      </>
    );
  },
  acts: {
    replay: {
      needs: 'webhooks:write',
      done: 'The event is sent again.',
      run: async ({ c, operations, mode }, form) =>
        acted(
          await operations.call('replayWebhookDelivery', {
            params: { delivery_id: c.req.param('delivery_id') ?? '' },
            query: { mode },
            ...idempotent(form),
          }),
        ),
    },
  },
};

export const EVENT: Definition = {
  path: '/dashboard/webhooks/events/:event_id',
  title: 'Event',
  async body({ c, operations, mode }) {
    const event = await operations.call<{ type: string; created_at: string; id: string }>('getWebhookEvent', {
      params: { event_id: c.req.param('event_id') ?? '' },
      query: { mode },
    });
    if (!event.ok) return event;
    return (
      <section>
        <Facts
          rows={[
            ['Event', event.value.id],
            ['Type', event.value.type],
            ['When', <Time at={event.value.created_at} />],
          ]}
        />
        <pre tabindex={0}>{JSON.stringify(event.value, null, 2)}</pre>
      </section>
    );
  },
  acts: {},
};
