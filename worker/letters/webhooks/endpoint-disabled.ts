import { plainName } from '../../pages/parts/text.ts';
import type { Letter, LetterFacts } from '../letter.ts';

export const endpointDisabledLetter: Letter<LetterFacts['endpoint_disabled']> = {
  pref: 'webhooks',
  to: 'owner',
  path: () => '/docs#endpoints',
  values: ({ url }) => ({ url: plainName(url) }),
  words: {
    en: {
      subject: 'A webhook endpoint was disabled',
      lines: ['Nothing is sent to {url} any more.', 'Enable it once it answers again, and replay what it missed.'],
      button: 'What to do',
    },
    es: {
      subject: 'Se ha desactivado un endpoint de webhooks',
      lines: ['Ya no se envía nada a {url}', 'Actívelo cuando vuelva a responder y reenvíe lo que no recibió.'],
      button: 'Qué hacer',
    },
    de: {
      subject: 'Ein Webhook-Endpunkt wurde abgeschaltet',
      lines: ['An {url} wird nichts mehr gesendet.', 'Schalten Sie ihn ein, sobald er wieder antwortet, und senden Sie erneut, was fehlt.'],
      button: 'Was zu tun ist',
    },
    fr: {
      subject: 'Un endpoint de webhooks a été désactivé',
      lines: ['Plus rien n’est envoyé à {url}', 'Réactivez-le dès qu’il répond, puis renvoyez ce qu’il a manqué.'],
      button: 'Que faire',
    },
    'pt-BR': {
      subject: 'Um endpoint de webhooks foi desativado',
      lines: ['Nada mais é enviado para {url}', 'Ative-o quando voltar a responder e reenvie o que ele perdeu.'],
      button: 'O que fazer',
    },
    ja: {
      subject: 'Webhookエンドポイントが無効になりました',
      lines: ['次のURLには送信されなくなりました: {url}', '応答するようになったら有効にし、届かなかったイベントを再送してください。'],
      button: '対処方法を見る',
    },
  },
};
