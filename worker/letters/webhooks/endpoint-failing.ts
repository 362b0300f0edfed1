import { formatInstant, plainName } from '../../pages/parts/text.ts';
import type { Letter, LetterFacts } from '../letter.ts';

export const endpointFailingLetter: Letter<LetterFacts['endpoint_failing']> = {
  pref: 'webhooks',
  to: 'owner',
  path: () => '/docs#endpoints',
  until: ({ disables_at }) => disables_at,
  values: ({ url, since, disables_at }, locale) => ({
    url: plainName(url),
    since: formatInstant(locale, since, 'UTC'),
    until: formatInstant(locale, disables_at, 'UTC'),
  }),
  words: {
    en: {
      subject: 'A webhook endpoint is failing',
      lines: [
        'Since {since} no event reached {url}',
        'If none does until {until}, the endpoint is disabled. Nothing is lost: events wait, and can be replayed.',
      ],
      button: 'What to do',
    },
    es: {
      subject: 'Un endpoint de webhooks está fallando',
      lines: [
        'Desde el {since} ningún evento ha llegado a {url}',
        'Si ninguno llega hasta el {until}, el endpoint se desactiva. No se pierde nada: los eventos esperan y se pueden reenviar.',
      ],
      button: 'Qué hacer',
    },
    de: {
      subject: 'Ein Webhook-Endpunkt antwortet nicht',
      lines: [
        'Seit {since} hat kein Ereignis {url} erreicht',
        'Wenn bis {until} keines ankommt, wird der Endpunkt abgeschaltet. Es geht nichts verloren: Ereignisse warten und können erneut gesendet werden.',
      ],
      button: 'Was zu tun ist',
    },
    fr: {
      subject: 'Un endpoint de webhooks est en échec',
      lines: [
        'Depuis le {since}, aucun événement n’a atteint {url}',
        'Si aucun n’y parvient d’ici le {until}, l’endpoint est désactivé. Rien n’est perdu : les événements attendent et peuvent être renvoyés.',
      ],
      button: 'Que faire',
    },
    'pt-BR': {
      subject: 'Um endpoint de webhooks está falhando',
      lines: [
        'Desde {since} nenhum evento chegou a {url}',
        'Se nenhum chegar até {until}, o endpoint será desativado. Nada se perde: os eventos esperam e podem ser reenviados.',
      ],
      button: 'O que fazer',
    },
    ja: {
      subject: 'Webhookエンドポイントが失敗しています',
      lines: [
        '{since}以降、イベントが届いていません: {url}',
        '{until}までに1件も届かない場合、エンドポイントは無効になります。イベントは失われず、あとから再送できます。',
      ],
      button: '対処方法を見る',
    },
  },
};
