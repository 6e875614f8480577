"""Hudi's service records, one copy each: appendix A of the format notes as text that the code reads.

`name: type` separated by `;`, in the order of the file. `T?` is a union of null and T with the default null,
`T|null=d` one of T and null with the default d, `?!` a nullable field without a default. `@8` marks what came with
table version 8 (Hudi 1.0) and is lacking before; `@9` likewise (Hudi 1.1). Records stand before their users.
"""

from typing import Final

NAMESPACE: Final = "org.apache.hudi.avro.model"

RECORDS: Final = """
HoodieIndexPartitionInfo: version: int|null=1; metadataPartitionPath: string?; indexUptoInstant: string?;
    extraMetadata: map<string>?@8
HoodieIndexPlan: version: int|null=1; indexPartitionInfos: array<HoodieIndexPartitionInfo>?
HoodieIndexCommitMetadata: version: int|null=1; operationType: string?;
    indexPartitionInfos: array<HoodieIndexPartitionInfo>?
HoodieRuntimeStats: totalScanTime: long?; totalCreateTime: long?; totalUpsertTime: long?
HoodieWriteStat: fileId: string?; path: string?; prevCommit: string?; numWrites: long?; numDeletes: long?;
    numUpdateWrites: long?; totalWriteBytes: long?; totalWriteErrors: long?; partitionPath: string?;
    totalLogRecords: long?; totalLogFiles: long?; totalUpdatedRecordsCompacted: long?; numInserts: long?;
    totalLogBlocks: long?; totalCorruptLogBlock: long?; totalRollbackBlocks: long?;
    fileSizeInBytes: long?; logVersion: int?@8; logOffset: long?@8; baseFile: string?@8;
    logFiles: array<string>?@8; cdcStats: map<long>?@8; prevBaseFile: string?@8; minEventTime: long?@8;
    maxEventTime: long?@8; runtimeStats: HoodieRuntimeStats?@8; totalLogFilesCompacted: long?@8;
    totalLogReadTimeMs: long?@8; totalLogSizeCompacted: long?@8; tempPath: string?@8; numUpdates: long?@8
HoodieCommitMetadata: partitionToWriteStats: map<array<HoodieWriteStat>>?; compacted: boolean?@8;
    extraMetadata: map<string>?; version: int|null=1; operationType: string?
HoodieReplaceCommitMetadata: partitionToWriteStats: map<array<HoodieWriteStat>>?; compacted: boolean?@8;
    extraMetadata: map<string>?; version: int|null=1; operationType: string?;
    partitionToReplaceFileIds: map<array<string>>?
HoodieCompactionOperation: baseInstantTime: string?!; deltaFilePaths: array<string>?;
    dataFilePath: string?; fileId: string?!; partitionPath: string?; metrics: map<double>?;
    bootstrapFilePath: string?
HoodieCompactionStrategy: compactorClassName: string?; strategyParams: map<string>?; version: int|null=1
HoodieCompactionPlan: operations: array<HoodieCompactionOperation>?; extraMetadata: map<string>?;
    version: int|null=1; strategy: HoodieCompactionStrategy?; preserveHoodieMetadata: boolean|null=false;
    missingSchedulePartitions: array<string>?@8
HoodieActionInstant: timestamp: string; action: string; state: string
HoodieCleanFileInfo: filePath: string?; isBootstrapBaseFile: boolean?
HoodieCleanerPlan: earliestInstantToRetain: HoodieActionInstant?; lastCompletedCommitTimestamp: string="";
    policy: string; filesToBeDeletedPerPartition: map<array<string>>?; version: int|null=1;
    filePathsToBeDeletedPerPartition: map<array<HoodieCleanFileInfo>>?;
    partitionsToBeDeleted: array<string>?; extraMetadata: map<string>?
HoodieCleanPartitionMetadata: partitionPath: string; policy: string; deletePathPatterns: array<string>;
    successDeleteFiles: array<string>; failedDeleteFiles: array<string>; isPartitionDeleted: boolean?
HoodieCleanMetadata: startCleanTime: string; timeTakenInMillis: long; totalFilesDeleted: int;
    earliestCommitToRetain: string; lastCompletedCommitTimestamp: string="";
    partitionMetadata: map<HoodieCleanPartitionMetadata>; version: int|null=1;
    bootstrapPartitionMetadata: map<HoodieCleanPartitionMetadata>?; extraMetadata: map<string>?
HoodieInstantInfo: commitTime: string; action: string
HoodieRollbackRequest: partitionPath: string; fileId: string?; latestBaseInstant: string?;
    filesToBeDeleted: array<string>=[]; logBlocksToBeDeleted: map<long>?
HoodieRollbackPlan: instantToRollback: HoodieInstantInfo?;
    RollbackRequests: array<HoodieRollbackRequest>?; version: int|null=1
HoodieRollbackPartitionMetadata: partitionPath: string; successDeleteFiles: array<string>;
    failedDeleteFiles: array<string>; rollbackLogFiles: map<long>?; logFilesFromFailedCommit: map<long>?
HoodieRollbackMetadata: startRollbackTime: string; timeTakenInMillis: long; totalFilesDeleted: int;
    commitsRollback: array<string>; partitionMetadata: map<HoodieRollbackPartitionMetadata>;
    version: int|null=1; instantsRollback: array<HoodieInstantInfo>=[]
HoodieRestorePlan: instantsToRollback: array<HoodieInstantInfo>=[]; version: int|null=2;
    savepointToRestoreTimestamp: string?
HoodieRestoreMetadata: startRestoreTime: string; timeTakenInMillis: long;
    instantsToRollback: array<string>; hoodieRestoreMetadata: map<array<HoodieRollbackMetadata?>>;
    version: int|null=1; restoreInstantInfo: array<HoodieInstantInfo>=[]
HoodieSavepointPartitionMetadata: partitionPath: string; savepointDataFile: array<string>
HoodieSavepointMetadata: savepointedBy: string; savepointedAt: long; comments: string;
    partitionMetadata: map<HoodieSavepointPartitionMetadata>; version: int|null=1
HoodieSliceInfo: dataFilePath: string?; deltaFilePaths: array<string>?; fileId: string?!;
    partitionPath: string?; bootstrapFilePath: string?; version: int|null=1
HoodieClusteringGroup: slices: array<HoodieSliceInfo>?; metrics: map<double>?;
    numOutputFileGroups: int|null=1; extraMetadata: map<string>?; version: int|null=1
HoodieClusteringStrategy: strategyClassName: string?; strategyParams: map<string>?; version: int|null=1
HoodieClusteringPlan: inputGroups: array<HoodieClusteringGroup>?; strategy: HoodieClusteringStrategy?;
    extraMetadata: map<string>?; version: int|null=1; preserveHoodieMetadata: boolean?;
    missingSchedulePartitions: array<string>?@8
HoodieRequestedReplaceMetadata: operationType: string?; clusteringPlan: HoodieClusteringPlan?;
    extraMetadata: map<string>?; version: int|null=1
BooleanWrapper: value: boolean
IntWrapper: value: int
LongWrapper: value: long
FloatWrapper: value: float
DoubleWrapper: value: double
BytesWrapper: value: bytes
StringWrapper: value: string
DateWrapper: value: int
DecimalWrapper: value: decimal(30,15)
TimeMicrosWrapper: value: time-micros
TimestampMicrosWrapper: value: long
LocalDateWrapper: value: int
ArrayWrapper: wrappedValues: array<null|BooleanWrapper|IntWrapper|LongWrapper|FloatWrapper|
    DoubleWrapper|BytesWrapper|StringWrapper|DateWrapper|DecimalWrapper|TimeMicrosWrapper|
    TimestampMicrosWrapper|LocalDateWrapper>?
HoodieDeleteRecord: recordKey: string?; partitionPath: string?; orderingVal: null|BooleanWrapper|
    IntWrapper|LongWrapper|FloatWrapper|DoubleWrapper|BytesWrapper|StringWrapper|DateWrapper|
    DecimalWrapper|TimeMicrosWrapper|TimestampMicrosWrapper|ArrayWrapper@9=null
HoodieDeleteRecordList: deleteRecordList: array<HoodieDeleteRecord>
HoodieLSMTimelineInstant: instantTime: string?; completionTime: string?; action: string?;
    metadata: bytes?; plan: bytes?; version: int=1
HoodieCompactionWriteStat: partitionPath: string?; totalLogRecords: long?; totalLogFiles: long?;
    totalUpdatedRecordsCompacted: long?; hoodieWriteStat: HoodieWriteStat?
HoodieCompactionMetadata: partitionToCompactionWriteStats: map<array<HoodieCompactionWriteStat>>?!
HoodieArchivedMetaEntry: hoodieCommitMetadata: HoodieCommitMetadata?;
    hoodieCleanMetadata: HoodieCleanMetadata?; hoodieCompactionMetadata: HoodieCompactionMetadata?;
    hoodieRollbackMetadata: HoodieRollbackMetadata?; hoodieSavePointMetadata: HoodieSavepointMetadata?;
    commitTime: string?; actionType: string?; version: int|null=1;
    hoodieCompactionPlan: HoodieCompactionPlan?; hoodieCleanerPlan: HoodieCleanerPlan?;
    actionState: string?; hoodieReplaceCommitMetadata: HoodieReplaceCommitMetadata?;
    hoodieRequestedReplaceMetadata: HoodieRequestedReplaceMetadata?;
    HoodieInflightReplaceMetadata: HoodieCommitMetadata?;
    hoodieIndexCommitMetadata: HoodieIndexCommitMetadata?; stateTransitionTime: string?
HoodieMetadataFileInfo: size: long; isDeleted: boolean
HoodieMetadataBloomFilter: type: string; timestamp: string; bloomFilter: bytes; isDeleted: boolean
HoodieValueTypeInfo: typeOrdinal: int; additionalInfo: string?
HoodieMetadataColumnStats: fileName: string?; columnName: string?; minValue: null|BooleanWrapper|
    IntWrapper|LongWrapper|FloatWrapper|DoubleWrapper|BytesWrapper|StringWrapper|DateWrapper|
    DecimalWrapper|TimeMicrosWrapper|TimestampMicrosWrapper|LocalDateWrapper@8|ArrayWrapper@9=null;
    maxValue: null|BooleanWrapper|IntWrapper|LongWrapper|FloatWrapper|DoubleWrapper|BytesWrapper|
    StringWrapper|DateWrapper|DecimalWrapper|TimeMicrosWrapper|TimestampMicrosWrapper|
    LocalDateWrapper@8|ArrayWrapper@9=null; valueCount: long?; nullCount: long?; totalSize: long?;
    totalUncompressedSize: long?; isDeleted: boolean; isTightBound: boolean=false@8;
    valueType: HoodieValueTypeInfo?@9
HoodieRecordIndexInfo: partitionName: string?; fileIdHighBits: long?; fileIdLowBits: long?;
    fileIndex: int?; fileId: string?; instantTime: long?; fileIdEncoding: int=0; position: long?@8
HoodieSecondaryIndexInfo: isDeleted: boolean
HoodieMetadataRecord: key: string; type: int; filesystemMetadata: map<HoodieMetadataFileInfo>?!;
    BloomFilterMetadata: HoodieMetadataBloomFilter?; ColumnStatsMetadata: HoodieMetadataColumnStats?;
    recordIndexMetadata: HoodieRecordIndexInfo?; SecondaryIndexMetadata: HoodieSecondaryIndexInfo?@8
"""
