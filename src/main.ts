console.log('skeleton');
