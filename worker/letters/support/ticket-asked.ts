import { plainName } from '../../pages/parts/text.ts';
import type { Letter, LetterFacts } from '../letter.ts';

export const ticketAskedLetter: Letter<LetterFacts['ticket_asked']> = {
  pref: null,
  to: 'owner',
  path: () => '/docs#tickets',
  values: ({ ticket_id }) => ({ ticket: plainName(ticket_id) }),
  words: {
    en: {
      subject: 'A support ticket waits for an answer',
      lines: [
        'Something was written on ticket {ticket}. Read it with GET /v1/support/tickets/{ticket} and answer there.',
        'There may be more than one: at most ten of these letters are sent in an hour.',
      ],
      button: 'What to do',
    },
    es: {
      subject: 'Un ticket de soporte espera respuesta',
      lines: [
        'Se ha escrito algo en el ticket {ticket}. Léelo con GET /v1/support/tickets/{ticket} y responde allí.',
        'Puede haber más de uno: se envían como mucho diez cartas como esta por hora.',
      ],
      button: 'Qué hacer',
    },
    de: {
      subject: 'Ein Support-Ticket wartet auf Antwort',
      lines: [
        'Im Ticket {ticket} wurde etwas geschrieben. Lesen Sie es mit GET /v1/support/tickets/{ticket} und antworten Sie dort.',
        'Es können mehrere sein: In einer Stunde gehen höchstens zehn solcher E-Mails hinaus.',
      ],
      button: 'Was zu tun ist',
    },
    fr: {
      subject: 'Un ticket d’assistance attend une réponse',
      lines: [
        'Un message a été écrit sur le ticket {ticket}. Lisez-le avec GET /v1/support/tickets/{ticket} et répondez-y.',
        'Il peut y en avoir plusieurs : dix de ces lettres au plus partent en une heure.',
      ],
      button: 'Que faire',
    },
    'pt-BR': {
      subject: 'Um ticket de suporte aguarda resposta',
      lines: [
        'Algo foi escrito no ticket {ticket}. Leia com GET /v1/support/tickets/{ticket} e responda por lá.',
        'Pode haver mais de um: no máximo dez destas cartas são enviadas por hora.',
      ],
      button: 'O que fazer',
    },
    ja: {
      subject: 'サポートへの問い合わせが回答を待っています',
      lines: [
        'チケット {ticket} に書き込みがありました。GET /v1/support/tickets/{ticket} で読み、そこで回答してください。',
        'ほかにもある場合があります。このお知らせは1時間に最大10通です。',
      ],
      button: '対処方法を見る',
    },
  },
};
