import { Table } from '../../parts/table.tsx';
import { idempotent } from '../frame/acts.ts';
import { prettyJson } from '../frame/api-section.tsx';
import { ActForm } from '../frame/fields.tsx';
import { Time } from '../frame/format.tsx';
import { linkTo } from '../frame/head.tsx';
import { Facts } from '../frame/list.tsx';
import type { Definition, Screen } from '../frame/screen.tsx';
import type { Delivery } from './webhooks.tsx';

interface SentDelivery extends Delivery {
  endpoint_id: string;
  response_excerpt?: string;
  replay_of?: number;
  request?: { url: string; headers: Record<string, string>; body: string };
  attempts: { at: string; response_status?: number; response_ms?: number; error?: string }[];
}

const pathOf = (deliveryId: number): string => `/dashboard/webhooks/deliveries/${deliveryId}`;

/** URL of the endpoint. A delivery names it once it has a request. */
async function findUrl({ operations, mode }: Screen, { endpoint_id: id, request }: SentDelivery): Promise<string> {
  if (request) return request.url;
  const input = { query: { per_page: '100', mode } };
  const endpoints = await operations.call<{ items: { endpoint_id: string; url: string }[] }>('listWebhookEndpoints', input);
  return (endpoints.ok && endpoints.value.items.find((one) => one.endpoint_id === id)?.url) || id;
}

const SentRequest = ({ url, headers, body }: NonNullable<SentDelivery['request']>) => (
  <section>
    <h2>Request</h2>
    <pre tabindex={0}>{[`POST ${url}`, ...Object.entries(headers).map(([name, text]) => `${name}: ${text}`)].join('\n')}</pre>
    <p class="quiet">The body was sent in one line, which the signature covers.</p>
    <pre tabindex={0}>{prettyJson(body)}</pre>
  </section>
);

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
    const url = await findUrl(screen, value);
    return (
      <>
        <section>
          <Facts
            rows={[
              ['Event', <a href={linkTo(screen, `/dashboard/webhooks/events/${value.event_id}`)}>{value.event_type}</a>],
              [
                'Endpoint',
                <a href={linkTo(screen, `/dashboard/webhooks/${value.endpoint_id}`)}>
                  <bdi>{url}</bdi>
                </a>,
              ],
              ['Status', value.status],
              ['Repeats', value.replay_of && <a href={linkTo(screen, pathOf(value.replay_of))}>{value.replay_of}</a>],
              ['Next attempt', value.next_attempt_at && <Time at={value.next_attempt_at} />],
            ]}
          />
          <ActForm screen={screen} act="replay" submit="Replay" />
        </section>
        <section>
          <Table
            caption="Attempts"
            head={['When', 'Response', 'Took']}
            rows={value.attempts.map(({ at, response_status: status, response_ms: ms, error }) => [
              <Time at={at} hasSeconds />,
              status ?? error,
              ms !== undefined && `${ms} ms`,
            ])}
          />
          {value.response_excerpt !== undefined && (
            <>
              <h2>Response</h2>
              <pre tabindex={0}>{value.response_excerpt}</pre>
            </>
          )}
        </section>
        {value.request && <SentRequest {...value.request} />}
      </>
    );
  },
  acts: {
    replay: {
      needs: 'webhooks:write',
      done: 'This new delivery sends the event again.',
      async run({ c, operations, mode }, form) {
        const replayed = await operations.call<Delivery>('replayWebhookDelivery', {
          params: { delivery_id: c.req.param('delivery_id') ?? '' },
          query: { mode },
          ...idempotent(form),
        });
        return replayed.ok ? { ok: true, leaveTo: linkTo({ mode }, pathOf(replayed.value.delivery_id)) } : replayed;
      },
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
