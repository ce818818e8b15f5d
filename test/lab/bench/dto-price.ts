import { IsString } from 'class-validator';
import { compareCreates, optionsOf, withBench } from './side-by-side.js';

// Measures what the DTOs of a large host cost a create: the service alone and with 1,000 classes with rules of
// class-validator, alternately. Usage: npm run bench -- dtos [ROUNDS] [SECONDS]

const DTOS = 1_000;

if (process.env.DTOS_OF_A_HOST) registerDtos();
else
  await withBench(async (bench) => {
    const alone = await bench.start(await bench.createDatabase('alone'));
    const env = { DTOS_OF_A_HOST: '1', NODE_OPTIONS: `--import=${import.meta.filename}` };
    const beside = await bench.start(await bench.createDatabase('beside'), env);
    await compareCreates(bench, { beside, alone }, optionsOf(process.argv.slice(2)));
  });

/** Registers DTOs before the service starts in each of these processes: Node imports this file first. */
function registerDtos(): void {
  for (let i = 0; i < DTOS; i++) {
    class Dto {
      declare text: string;
    }
    for (let rule = 0; rule < 5; rule++) IsString()(Dto.prototype, `text${rule}`);
  }
}
