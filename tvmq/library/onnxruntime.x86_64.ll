; 7463df416e84697d238f0aa5f377cfecd4b274c5e3acea7f13320a597cd6f759 is the sha256 of the sources; tools/library_runtime.py writes this file
; ModuleID = 'onnxruntime.c'
source_filename = "onnxruntime.c"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

%struct.ort_op = type { i32, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, [4 x ptr], ptr, ptr, ptr, [2 x ptr] }
%struct.model_description = type { ptr, ptr, ptr, ptr, ptr, i32, i32, i32, i32 }
%struct.text = type { i64, [512 x i8] }
%struct.ort_api_base = type { ptr, ptr }
%struct.ort_api = type { ptr, [25 x ptr], ptr, ptr, ptr, [22 x ptr], ptr, [9 x ptr], ptr, ptr, [2 x ptr], ptr, [9 x ptr], ptr, ptr, ptr, ptr, [7 x ptr], ptr, ptr, [2 x ptr], ptr, ptr, ptr, ptr, [5 x ptr], ptr, ptr, ptr, [172 x ptr], ptr }
%struct.model_tensor = type { ptr, ptr, i32, i32, [8 x i64], i64, double, i64 }
%struct.kernel = type { ptr, ptr, i32, [8 x ptr] }
%struct.model_threads = type { i32, ptr, ptr }
%struct.run = type { ptr, ptr, %struct.model_description, ptr, ptr, ptr, ptr }
%struct.block = type { ptr, i64 }
%struct.model_buffer = type { ptr, i64 }
%struct.job = type { ptr, ptr }

@.str = private unnamed_addr constant [58 x i8] c"the library needs onnxruntime 1.17 or newer, and this is \00", align 1
@owner = internal unnamed_addr global ptr null, align 8
@kept_domain = internal global ptr null, align 8
@.str.2 = private unnamed_addr constant [5 x i8] c"tvmq\00", align 1
@model_op = internal constant %struct.ort_op { i32 17, ptr null, ptr @get_name, ptr @get_provider, ptr @get_input_type, ptr @count_inputs, ptr @get_output_type, ptr @count_outputs, ptr null, ptr @destroy_kernel, ptr @get_zero, ptr @get_zero, ptr @get_zero, [4 x ptr] zeroinitializer, ptr @create_kernel, ptr @compute, ptr null, [2 x ptr] zeroinitializer }, align 8
@type_number.names = internal unnamed_addr constant [14 x [8 x i8]] [[8 x i8] zeroinitializer, [8 x i8] c"float32\00", [8 x i8] c"uint8\00\00\00", [8 x i8] c"int8\00\00\00\00", [8 x i8] c"uint16\00\00", [8 x i8] c"int16\00\00\00", [8 x i8] c"int32\00\00\00", [8 x i8] c"int64\00\00\00", [8 x i8] zeroinitializer, [8 x i8] c"bool\00\00\00\00", [8 x i8] c"float16\00", [8 x i8] c"float64\00", [8 x i8] c"uint32\00\00", [8 x i8] c"uint64\00\00"], align 16
@.str.3 = private unnamed_addr constant [39 x i8] c"onnxruntime has no memory for a kernel\00", align 1
@.str.4 = private unnamed_addr constant [11 x i8] c"model_hash\00", align 1
@.str.5 = private unnamed_addr constant [123 x i8] c"the ONNX file and the library are of different exports, or the node has no attribute model_hash; take both from one folder\00", align 1
@.str.6 = private unnamed_addr constant [6 x i8] c"tasks\00", align 1
@.str.7 = private unnamed_addr constant [36 x i8] c"the attribute tasks of the node is \00", align 1
@.str.8 = private unnamed_addr constant [27 x i8] c"; give a number from 1 to \00", align 1
@.str.9 = private unnamed_addr constant [36 x i8] c"onnxruntime has no memory for a run\00", align 1
@.str.10 = private unnamed_addr constant [20 x i8] c"an input is missing\00", align 1
@.str.13 = private unnamed_addr constant [22 x i8] c" and the model takes \00", align 1
@.str.16 = private unnamed_addr constant [7 x i8] c", ...]\00", align 1
@.str.17 = private unnamed_addr constant [2 x i8] c"]\00", align 1
@.str.18 = private unnamed_addr constant [21 x i8] c"an output is missing\00", align 1

; Function Attrs: nounwind
define ptr @RegisterCustomOps(ptr noundef %0, ptr nocapture noundef readonly %1) local_unnamed_addr #0 {
  %3 = alloca %struct.model_description, align 8
  %4 = alloca ptr, align 8
  %5 = alloca %struct.text, align 8
  %6 = getelementptr inbounds %struct.ort_api_base, ptr %1, i64 0, i32 1
  %7 = load ptr, ptr %6, align 8
  %8 = tail call ptr %7() #8
  %9 = load i8, ptr %8, align 1
  %10 = add i8 %9, -48
  %11 = icmp ult i8 %10, 10
  br i1 %11, label %12, label %24

12:                                               ; preds = %2, %12
  %13 = phi i32 [ %20, %12 ], [ 0, %2 ]
  %14 = phi i8 [ %21, %12 ], [ %9, %2 ]
  %15 = phi ptr [ %18, %12 ], [ %8, %2 ]
  %16 = zext i8 %14 to i32
  %17 = mul i32 %13, 10
  %18 = getelementptr inbounds i8, ptr %15, i64 1
  %19 = add i32 %17, -48
  %20 = add i32 %19, %16
  %21 = load i8, ptr %18, align 1
  %22 = add i8 %21, -48
  %23 = icmp ult i8 %22, 10
  br i1 %23, label %12, label %24, !llvm.loop !2

24:                                               ; preds = %12, %2
  %25 = phi i32 [ 0, %2 ], [ %20, %12 ]
  %26 = phi ptr [ %8, %2 ], [ %18, %12 ]
  %27 = phi i8 [ %9, %2 ], [ %21, %12 ]
  %28 = icmp ne i8 %27, 0
  %29 = zext i1 %28 to i64
  %30 = getelementptr i8, ptr %26, i64 %29
  %31 = load i8, ptr %30, align 1
  %32 = add i8 %31, -48
  %33 = icmp ult i8 %32, 10
  br i1 %33, label %34, label %48

34:                                               ; preds = %24, %34
  %35 = phi i32 [ %42, %34 ], [ 0, %24 ]
  %36 = phi i8 [ %43, %34 ], [ %31, %24 ]
  %37 = phi ptr [ %40, %34 ], [ %30, %24 ]
  %38 = zext i8 %36 to i32
  %39 = mul i32 %35, 10
  %40 = getelementptr inbounds i8, ptr %37, i64 1
  %41 = add i32 %39, -48
  %42 = add i32 %41, %38
  %43 = load i8, ptr %40, align 1
  %44 = add i8 %43, -48
  %45 = icmp ult i8 %44, 10
  br i1 %45, label %34, label %46, !llvm.loop !2

46:                                               ; preds = %34
  %47 = icmp ugt i32 %42, 16
  br label %48

48:                                               ; preds = %46, %24
  %49 = phi i1 [ false, %24 ], [ %47, %46 ]
  %50 = icmp ugt i32 %25, 1
  %51 = icmp eq i32 %25, 1
  %52 = select i1 %51, i1 %49, i1 false
  %53 = select i1 %50, i1 true, i1 %52
  br i1 %53, label %55, label %54

54:                                               ; preds = %48
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %4) #9
  br label %59

55:                                               ; preds = %48
  %56 = load ptr, ptr %1, align 8
  %57 = tail call ptr %56(i32 noundef 17) #8
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %4) #9
  store ptr null, ptr %4, align 8
  %58 = icmp eq ptr %57, null
  br i1 %58, label %59, label %151

59:                                               ; preds = %54, %55
  call void @llvm.lifetime.start.p0(i64 520, ptr nonnull %5) #9
  call void @llvm.lifetime.start.p0(i64 56, ptr nonnull %3)
  store i64 0, ptr %5, align 8
  %60 = call i32 @model_describe(ptr noundef nonnull %3) #8
  %61 = load ptr, ptr %3, align 8
  %62 = load i8, ptr %61, align 1
  %63 = icmp eq i8 %62, 0
  br i1 %63, label %77, label %64

64:                                               ; preds = %59, %69
  %65 = phi i8 [ %73, %69 ], [ %62, %59 ]
  %66 = phi ptr [ %70, %69 ], [ %61, %59 ]
  %67 = load i64, ptr %5, align 8
  %68 = icmp ult i64 %67, 511
  br i1 %68, label %69, label %77

69:                                               ; preds = %64
  %70 = getelementptr inbounds i8, ptr %66, i64 1
  %71 = add nuw nsw i64 %67, 1
  store i64 %71, ptr %5, align 8
  %72 = getelementptr inbounds %struct.text, ptr %5, i64 0, i32 1, i64 %67
  store i8 %65, ptr %72, align 1
  %73 = load i8, ptr %70, align 1
  %74 = icmp eq i8 %73, 0
  br i1 %74, label %75, label %64, !llvm.loop !4

75:                                               ; preds = %69
  %76 = load i64, ptr %5, align 8
  br label %77

77:                                               ; preds = %64, %75, %59
  %78 = phi i64 [ 0, %59 ], [ %76, %75 ], [ %67, %64 ]
  %79 = getelementptr inbounds %struct.text, ptr %5, i64 0, i32 1, i64 %78
  store i8 0, ptr %79, align 1
  %80 = load i64, ptr %5, align 8
  %81 = icmp ult i64 %80, 511
  br i1 %81, label %82, label %91

82:                                               ; preds = %77
  %83 = add nuw nsw i64 %80, 1
  store i64 %83, ptr %5, align 8
  %84 = getelementptr inbounds %struct.text, ptr %5, i64 0, i32 1, i64 %80
  store i8 58, ptr %84, align 1
  %85 = load i64, ptr %5, align 8
  %86 = icmp ult i64 %85, 511
  br i1 %86, label %87, label %91

87:                                               ; preds = %82
  %88 = add nuw nsw i64 %85, 1
  store i64 %88, ptr %5, align 8
  %89 = getelementptr inbounds %struct.text, ptr %5, i64 0, i32 1, i64 %85
  store i8 32, ptr %89, align 1
  %90 = load i64, ptr %5, align 8
  br label %91

91:                                               ; preds = %77, %82, %87
  %92 = phi i64 [ %90, %87 ], [ %85, %82 ], [ %80, %77 ]
  %93 = getelementptr inbounds %struct.text, ptr %5, i64 0, i32 1, i64 %92
  store i8 0, ptr %93, align 1
  call void @llvm.lifetime.end.p0(i64 56, ptr nonnull %3)
  br label %94

94:                                               ; preds = %111, %91
  %95 = phi i8 [ 116, %91 ], [ %117, %111 ]
  %96 = phi ptr [ @.str, %91 ], [ %114, %111 ]
  %97 = load i64, ptr %5, align 8
  %98 = icmp ult i64 %97, 511
  br i1 %98, label %99, label %121

99:                                               ; preds = %94
  %100 = add nuw nsw i64 %97, 1
  store i64 %100, ptr %5, align 8
  %101 = getelementptr inbounds %struct.text, ptr %5, i64 0, i32 1, i64 %97
  store i8 %95, ptr %101, align 1
  %102 = load i64, ptr %5, align 8
  %103 = icmp ult i64 %102, 511
  br i1 %103, label %104, label %121

104:                                              ; preds = %99
  %105 = getelementptr inbounds i8, ptr %96, i64 1
  %106 = load i8, ptr %105, align 1
  %107 = add nuw nsw i64 %102, 1
  store i64 %107, ptr %5, align 8
  %108 = getelementptr inbounds %struct.text, ptr %5, i64 0, i32 1, i64 %102
  store i8 %106, ptr %108, align 1
  %109 = load i64, ptr %5, align 8
  %110 = icmp ult i64 %109, 511
  br i1 %110, label %111, label %121

111:                                              ; preds = %104
  %112 = getelementptr inbounds i8, ptr %96, i64 2
  %113 = load i8, ptr %112, align 1
  %114 = getelementptr inbounds i8, ptr %96, i64 3
  %115 = add nuw nsw i64 %109, 1
  store i64 %115, ptr %5, align 8
  %116 = getelementptr inbounds %struct.text, ptr %5, i64 0, i32 1, i64 %109
  store i8 %113, ptr %116, align 1
  %117 = load i8, ptr %114, align 1
  %118 = icmp eq ptr %114, getelementptr inbounds ([58 x i8], ptr @.str, i64 0, i64 57)
  br i1 %118, label %119, label %94, !llvm.loop !4

119:                                              ; preds = %111
  %120 = load i64, ptr %5, align 8
  br label %121

121:                                              ; preds = %94, %99, %104, %119
  %122 = phi i64 [ %120, %119 ], [ %97, %94 ], [ %102, %99 ], [ %109, %104 ]
  %123 = getelementptr inbounds %struct.text, ptr %5, i64 0, i32 1, i64 %122
  store i8 0, ptr %123, align 1
  %124 = load ptr, ptr %6, align 8
  %125 = call ptr %124() #8
  %126 = load i8, ptr %125, align 1
  %127 = icmp eq i8 %126, 0
  br i1 %127, label %139, label %128

128:                                              ; preds = %121, %133
  %129 = phi i8 [ %137, %133 ], [ %126, %121 ]
  %130 = phi ptr [ %134, %133 ], [ %125, %121 ]
  %131 = load i64, ptr %5, align 8
  %132 = icmp ult i64 %131, 511
  br i1 %132, label %133, label %139

133:                                              ; preds = %128
  %134 = getelementptr inbounds i8, ptr %130, i64 1
  %135 = add nuw nsw i64 %131, 1
  store i64 %135, ptr %5, align 8
  %136 = getelementptr inbounds %struct.text, ptr %5, i64 0, i32 1, i64 %131
  store i8 %129, ptr %136, align 1
  %137 = load i8, ptr %134, align 1
  %138 = icmp eq i8 %137, 0
  br i1 %138, label %139, label %128, !llvm.loop !4

139:                                              ; preds = %128, %133, %121
  %140 = load i64, ptr %5, align 8
  %141 = getelementptr inbounds %struct.text, ptr %5, i64 0, i32 1, i64 %140
  store i8 0, ptr %141, align 1
  %142 = load ptr, ptr %1, align 8
  %143 = call ptr %142(i32 noundef 1) #8
  %144 = icmp eq ptr %143, null
  br i1 %144, label %149, label %145

145:                                              ; preds = %139
  %146 = load ptr, ptr %143, align 8
  %147 = getelementptr inbounds %struct.text, ptr %5, i64 0, i32 1
  %148 = call ptr %146(i32 noundef 9, ptr noundef nonnull %147) #8
  br label %149

149:                                              ; preds = %139, %145
  %150 = phi ptr [ %148, %145 ], [ null, %139 ]
  call void @llvm.lifetime.end.p0(i64 520, ptr nonnull %5) #9
  br label %180

151:                                              ; preds = %55
  %152 = load atomic i64, ptr @owner acquire, align 8
  %153 = inttoptr i64 %152 to ptr
  %154 = icmp eq ptr %57, %153
  br i1 %154, label %155, label %157

155:                                              ; preds = %151
  %156 = load ptr, ptr @kept_domain, align 8
  store ptr %156, ptr %4, align 8
  br label %175

157:                                              ; preds = %151
  %158 = getelementptr inbounds %struct.ort_api, ptr %57, i64 0, i32 2
  %159 = load ptr, ptr %158, align 8
  %160 = call ptr %159(ptr noundef nonnull @.str.2, ptr noundef nonnull %4) #8
  %161 = icmp eq ptr %160, null
  br i1 %161, label %162, label %180

162:                                              ; preds = %157
  %163 = getelementptr inbounds %struct.ort_api, ptr %57, i64 0, i32 3
  %164 = load ptr, ptr %163, align 8
  %165 = load ptr, ptr %4, align 8
  %166 = call ptr %164(ptr noundef %165, ptr noundef nonnull @model_op) #8
  %167 = icmp eq ptr %166, null
  br i1 %167, label %168, label %180

168:                                              ; preds = %162
  %169 = load ptr, ptr %4, align 8
  %170 = ptrtoint ptr %169 to i64
  %171 = cmpxchg ptr @kept_domain, i64 0, i64 %170 acq_rel monotonic, align 8
  %172 = extractvalue { i64, i1 } %171, 1
  br i1 %172, label %173, label %175

173:                                              ; preds = %168
  %174 = ptrtoint ptr %57 to i64
  store atomic i64 %174, ptr @owner release, align 8
  br label %175

175:                                              ; preds = %155, %173, %168
  %176 = getelementptr inbounds %struct.ort_api, ptr %57, i64 0, i32 4
  %177 = load ptr, ptr %176, align 8
  %178 = load ptr, ptr %4, align 8
  %179 = call ptr %177(ptr noundef %0, ptr noundef %178) #8
  br label %180

180:                                              ; preds = %162, %157, %175, %149
  %181 = phi ptr [ %150, %149 ], [ %179, %175 ], [ %166, %162 ], [ %160, %157 ]
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %4) #9
  ret ptr %181
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.start.p0(i64 immarg, ptr nocapture) #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.end.p0(i64 immarg, ptr nocapture) #1

; Function Attrs: mustprogress nocallback nofree nounwind willreturn memory(argmem: write)
declare void @llvm.memset.p0.i64(ptr nocapture writeonly, i8, i64, i1 immarg) #2

declare i32 @model_describe(ptr noundef) local_unnamed_addr #3

; Function Attrs: nounwind
define internal ptr @get_name(ptr nocapture readnone %0) #0 {
  %2 = alloca %struct.model_description, align 8
  %3 = call i32 @model_describe(ptr noundef nonnull %2) #8
  %4 = load ptr, ptr %2, align 8
  ret ptr %4
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define internal noalias ptr @get_provider(ptr nocapture readnone %0) #4 {
  ret ptr null
}

; Function Attrs: nounwind
define internal i32 @get_input_type(ptr nocapture readnone %0, i64 noundef %1) #0 {
  %3 = alloca %struct.model_tensor, align 8
  call void @llvm.lifetime.start.p0(i64 112, ptr nonnull %3) #9
  %4 = trunc i64 %1 to i32
  %5 = call i32 @model_input(i32 noundef %4, ptr noundef null, ptr noundef nonnull %3) #8
  %6 = icmp eq i32 %5, 0
  br i1 %6, label %7, label %36

7:                                                ; preds = %2
  %8 = getelementptr inbounds %struct.model_tensor, ptr %3, i64 0, i32 1
  %9 = load ptr, ptr %8, align 8
  br label %10

10:                                               ; preds = %31, %7
  %11 = phi i64 [ 13, %7 ], [ %32, %31 ]
  %12 = getelementptr inbounds [14 x [8 x i8]], ptr @type_number.names, i64 0, i64 %11
  %13 = load i8, ptr %12, align 8
  %14 = icmp eq i8 %13, 0
  br i1 %14, label %26, label %15

15:                                               ; preds = %10, %21
  %16 = phi i8 [ %24, %21 ], [ %13, %10 ]
  %17 = phi ptr [ %23, %21 ], [ %9, %10 ]
  %18 = phi ptr [ %22, %21 ], [ %12, %10 ]
  %19 = load i8, ptr %17, align 1
  %20 = icmp eq i8 %16, %19
  br i1 %20, label %21, label %26

21:                                               ; preds = %15
  %22 = getelementptr inbounds i8, ptr %18, i64 1
  %23 = getelementptr inbounds i8, ptr %17, i64 1
  %24 = load i8, ptr %22, align 1
  %25 = icmp eq i8 %24, 0
  br i1 %25, label %26, label %15, !llvm.loop !5

26:                                               ; preds = %21, %15, %10
  %27 = phi ptr [ %9, %10 ], [ %23, %21 ], [ %17, %15 ]
  %28 = phi i8 [ 0, %10 ], [ 0, %21 ], [ %16, %15 ]
  %29 = load i8, ptr %27, align 1
  %30 = icmp eq i8 %28, %29
  br i1 %30, label %34, label %31

31:                                               ; preds = %26
  %32 = add nsw i64 %11, -1
  %33 = icmp eq i64 %32, 0
  br i1 %33, label %36, label %10, !llvm.loop !6

34:                                               ; preds = %26
  %35 = trunc i64 %11 to i32
  br label %36

36:                                               ; preds = %31, %34, %2
  %37 = phi i32 [ 0, %2 ], [ %35, %34 ], [ 0, %31 ]
  call void @llvm.lifetime.end.p0(i64 112, ptr nonnull %3) #9
  ret i32 %37
}

; Function Attrs: nounwind
define internal i64 @count_inputs(ptr nocapture readnone %0) #0 {
  %2 = alloca %struct.model_description, align 8
  %3 = call i32 @model_describe(ptr noundef nonnull %2) #8
  %4 = getelementptr inbounds %struct.model_description, ptr %2, i64 0, i32 6
  %5 = load i32, ptr %4, align 4
  %6 = zext i32 %5 to i64
  ret i64 %6
}

; Function Attrs: nounwind
define internal i32 @get_output_type(ptr nocapture readnone %0, i64 noundef %1) #0 {
  %3 = alloca %struct.model_tensor, align 8
  call void @llvm.lifetime.start.p0(i64 112, ptr nonnull %3) #9
  %4 = trunc i64 %1 to i32
  %5 = call i32 @model_output(i32 noundef %4, ptr noundef null, ptr noundef nonnull %3) #8
  %6 = icmp eq i32 %5, 0
  br i1 %6, label %7, label %36

7:                                                ; preds = %2
  %8 = getelementptr inbounds %struct.model_tensor, ptr %3, i64 0, i32 1
  %9 = load ptr, ptr %8, align 8
  br label %10

10:                                               ; preds = %31, %7
  %11 = phi i64 [ 13, %7 ], [ %32, %31 ]
  %12 = getelementptr inbounds [14 x [8 x i8]], ptr @type_number.names, i64 0, i64 %11
  %13 = load i8, ptr %12, align 8
  %14 = icmp eq i8 %13, 0
  br i1 %14, label %26, label %15

15:                                               ; preds = %10, %21
  %16 = phi i8 [ %24, %21 ], [ %13, %10 ]
  %17 = phi ptr [ %23, %21 ], [ %9, %10 ]
  %18 = phi ptr [ %22, %21 ], [ %12, %10 ]
  %19 = load i8, ptr %17, align 1
  %20 = icmp eq i8 %16, %19
  br i1 %20, label %21, label %26

21:                                               ; preds = %15
  %22 = getelementptr inbounds i8, ptr %18, i64 1
  %23 = getelementptr inbounds i8, ptr %17, i64 1
  %24 = load i8, ptr %22, align 1
  %25 = icmp eq i8 %24, 0
  br i1 %25, label %26, label %15, !llvm.loop !5

26:                                               ; preds = %21, %15, %10
  %27 = phi ptr [ %9, %10 ], [ %23, %21 ], [ %17, %15 ]
  %28 = phi i8 [ 0, %10 ], [ 0, %21 ], [ %16, %15 ]
  %29 = load i8, ptr %27, align 1
  %30 = icmp eq i8 %28, %29
  br i1 %30, label %34, label %31

31:                                               ; preds = %26
  %32 = add nsw i64 %11, -1
  %33 = icmp eq i64 %32, 0
  br i1 %33, label %36, label %10, !llvm.loop !6

34:                                               ; preds = %26
  %35 = trunc i64 %11 to i32
  br label %36

36:                                               ; preds = %31, %34, %2
  %37 = phi i32 [ 0, %2 ], [ %35, %34 ], [ 0, %31 ]
  call void @llvm.lifetime.end.p0(i64 112, ptr nonnull %3) #9
  ret i32 %37
}

; Function Attrs: nounwind
define internal i64 @count_outputs(ptr nocapture readnone %0) #0 {
  %2 = alloca %struct.model_description, align 8
  %3 = call i32 @model_describe(ptr noundef nonnull %2) #8
  %4 = getelementptr inbounds %struct.model_description, ptr %2, i64 0, i32 7
  %5 = load i32, ptr %4, align 8
  %6 = zext i32 %5 to i64
  ret i64 %6
}

; Function Attrs: nounwind
define internal void @destroy_kernel(ptr noundef %0) #0 {
  %2 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 1
  %3 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3, i64 0
  %4 = load ptr, ptr %3, align 8
  %5 = icmp eq ptr %4, null
  br i1 %5, label %29, label %18

6:                                                ; preds = %119, %123, %130
  %7 = load ptr, ptr %0, align 8
  %8 = getelementptr inbounds %struct.ort_api, ptr %7, i64 0, i32 14
  %9 = load ptr, ptr %8, align 8
  %10 = load ptr, ptr %2, align 8
  %11 = tail call ptr %9(ptr noundef %10, ptr noundef nonnull %0) #8
  %12 = icmp eq ptr %11, null
  br i1 %12, label %17, label %13

13:                                               ; preds = %6
  %14 = load ptr, ptr %0, align 8
  %15 = getelementptr inbounds %struct.ort_api, ptr %14, i64 0, i32 24
  %16 = load ptr, ptr %15, align 8
  tail call void %16(ptr noundef nonnull %11) #8
  br label %17

17:                                               ; preds = %6, %13
  ret void

18:                                               ; preds = %1
  %19 = load ptr, ptr %0, align 8
  %20 = getelementptr inbounds %struct.ort_api, ptr %19, i64 0, i32 14
  %21 = load ptr, ptr %20, align 8
  %22 = load ptr, ptr %2, align 8
  %23 = tail call ptr %21(ptr noundef %22, ptr noundef nonnull %4) #8
  %24 = icmp eq ptr %23, null
  br i1 %24, label %29, label %25

25:                                               ; preds = %18
  %26 = load ptr, ptr %0, align 8
  %27 = getelementptr inbounds %struct.ort_api, ptr %26, i64 0, i32 24
  %28 = load ptr, ptr %27, align 8
  tail call void %28(ptr noundef nonnull %23) #8
  br label %29

29:                                               ; preds = %1, %18, %25
  %30 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3, i64 1
  %31 = load ptr, ptr %30, align 8
  %32 = icmp eq ptr %31, null
  br i1 %32, label %44, label %33

33:                                               ; preds = %29
  %34 = load ptr, ptr %0, align 8
  %35 = getelementptr inbounds %struct.ort_api, ptr %34, i64 0, i32 14
  %36 = load ptr, ptr %35, align 8
  %37 = load ptr, ptr %2, align 8
  %38 = tail call ptr %36(ptr noundef %37, ptr noundef nonnull %31) #8
  %39 = icmp eq ptr %38, null
  br i1 %39, label %44, label %40

40:                                               ; preds = %33
  %41 = load ptr, ptr %0, align 8
  %42 = getelementptr inbounds %struct.ort_api, ptr %41, i64 0, i32 24
  %43 = load ptr, ptr %42, align 8
  tail call void %43(ptr noundef nonnull %38) #8
  br label %44

44:                                               ; preds = %40, %33, %29
  %45 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3, i64 2
  %46 = load ptr, ptr %45, align 8
  %47 = icmp eq ptr %46, null
  br i1 %47, label %59, label %48

48:                                               ; preds = %44
  %49 = load ptr, ptr %0, align 8
  %50 = getelementptr inbounds %struct.ort_api, ptr %49, i64 0, i32 14
  %51 = load ptr, ptr %50, align 8
  %52 = load ptr, ptr %2, align 8
  %53 = tail call ptr %51(ptr noundef %52, ptr noundef nonnull %46) #8
  %54 = icmp eq ptr %53, null
  br i1 %54, label %59, label %55

55:                                               ; preds = %48
  %56 = load ptr, ptr %0, align 8
  %57 = getelementptr inbounds %struct.ort_api, ptr %56, i64 0, i32 24
  %58 = load ptr, ptr %57, align 8
  tail call void %58(ptr noundef nonnull %53) #8
  br label %59

59:                                               ; preds = %55, %48, %44
  %60 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3, i64 3
  %61 = load ptr, ptr %60, align 8
  %62 = icmp eq ptr %61, null
  br i1 %62, label %74, label %63

63:                                               ; preds = %59
  %64 = load ptr, ptr %0, align 8
  %65 = getelementptr inbounds %struct.ort_api, ptr %64, i64 0, i32 14
  %66 = load ptr, ptr %65, align 8
  %67 = load ptr, ptr %2, align 8
  %68 = tail call ptr %66(ptr noundef %67, ptr noundef nonnull %61) #8
  %69 = icmp eq ptr %68, null
  br i1 %69, label %74, label %70

70:                                               ; preds = %63
  %71 = load ptr, ptr %0, align 8
  %72 = getelementptr inbounds %struct.ort_api, ptr %71, i64 0, i32 24
  %73 = load ptr, ptr %72, align 8
  tail call void %73(ptr noundef nonnull %68) #8
  br label %74

74:                                               ; preds = %70, %63, %59
  %75 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3, i64 4
  %76 = load ptr, ptr %75, align 8
  %77 = icmp eq ptr %76, null
  br i1 %77, label %89, label %78

78:                                               ; preds = %74
  %79 = load ptr, ptr %0, align 8
  %80 = getelementptr inbounds %struct.ort_api, ptr %79, i64 0, i32 14
  %81 = load ptr, ptr %80, align 8
  %82 = load ptr, ptr %2, align 8
  %83 = tail call ptr %81(ptr noundef %82, ptr noundef nonnull %76) #8
  %84 = icmp eq ptr %83, null
  br i1 %84, label %89, label %85

85:                                               ; preds = %78
  %86 = load ptr, ptr %0, align 8
  %87 = getelementptr inbounds %struct.ort_api, ptr %86, i64 0, i32 24
  %88 = load ptr, ptr %87, align 8
  tail call void %88(ptr noundef nonnull %83) #8
  br label %89

89:                                               ; preds = %85, %78, %74
  %90 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3, i64 5
  %91 = load ptr, ptr %90, align 8
  %92 = icmp eq ptr %91, null
  br i1 %92, label %104, label %93

93:                                               ; preds = %89
  %94 = load ptr, ptr %0, align 8
  %95 = getelementptr inbounds %struct.ort_api, ptr %94, i64 0, i32 14
  %96 = load ptr, ptr %95, align 8
  %97 = load ptr, ptr %2, align 8
  %98 = tail call ptr %96(ptr noundef %97, ptr noundef nonnull %91) #8
  %99 = icmp eq ptr %98, null
  br i1 %99, label %104, label %100

100:                                              ; preds = %93
  %101 = load ptr, ptr %0, align 8
  %102 = getelementptr inbounds %struct.ort_api, ptr %101, i64 0, i32 24
  %103 = load ptr, ptr %102, align 8
  tail call void %103(ptr noundef nonnull %98) #8
  br label %104

104:                                              ; preds = %100, %93, %89
  %105 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3, i64 6
  %106 = load ptr, ptr %105, align 8
  %107 = icmp eq ptr %106, null
  br i1 %107, label %119, label %108

108:                                              ; preds = %104
  %109 = load ptr, ptr %0, align 8
  %110 = getelementptr inbounds %struct.ort_api, ptr %109, i64 0, i32 14
  %111 = load ptr, ptr %110, align 8
  %112 = load ptr, ptr %2, align 8
  %113 = tail call ptr %111(ptr noundef %112, ptr noundef nonnull %106) #8
  %114 = icmp eq ptr %113, null
  br i1 %114, label %119, label %115

115:                                              ; preds = %108
  %116 = load ptr, ptr %0, align 8
  %117 = getelementptr inbounds %struct.ort_api, ptr %116, i64 0, i32 24
  %118 = load ptr, ptr %117, align 8
  tail call void %118(ptr noundef nonnull %113) #8
  br label %119

119:                                              ; preds = %115, %108, %104
  %120 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3, i64 7
  %121 = load ptr, ptr %120, align 8
  %122 = icmp eq ptr %121, null
  br i1 %122, label %6, label %123

123:                                              ; preds = %119
  %124 = load ptr, ptr %0, align 8
  %125 = getelementptr inbounds %struct.ort_api, ptr %124, i64 0, i32 14
  %126 = load ptr, ptr %125, align 8
  %127 = load ptr, ptr %2, align 8
  %128 = tail call ptr %126(ptr noundef %127, ptr noundef nonnull %121) #8
  %129 = icmp eq ptr %128, null
  br i1 %129, label %6, label %130

130:                                              ; preds = %123
  %131 = load ptr, ptr %0, align 8
  %132 = getelementptr inbounds %struct.ort_api, ptr %131, i64 0, i32 24
  %133 = load ptr, ptr %132, align 8
  tail call void %133(ptr noundef nonnull %128) #8
  br label %6
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define internal i32 @get_zero(ptr nocapture readnone %0, i64 %1) #4 {
  ret i32 0
}

; Function Attrs: nounwind
define internal ptr @create_kernel(ptr nocapture readnone %0, ptr noundef %1, ptr noundef %2, ptr noundef %3) #0 {
  %5 = alloca [24 x i8], align 16
  %6 = alloca [24 x i8], align 16
  %7 = alloca %struct.model_description, align 8
  %8 = alloca i64, align 8
  %9 = alloca %struct.text, align 8
  %10 = alloca %struct.model_description, align 8
  %11 = alloca [128 x i8], align 16
  %12 = alloca i64, align 8
  %13 = alloca ptr, align 8
  %14 = alloca %struct.model_description, align 8
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %13) #9
  store ptr null, ptr %13, align 8
  %15 = call i32 @model_describe(ptr noundef nonnull %14) #8
  %16 = getelementptr inbounds %struct.model_description, ptr %14, i64 0, i32 3
  %17 = load ptr, ptr %16, align 8
  %18 = icmp eq ptr %17, null
  br i1 %18, label %19, label %25

19:                                               ; preds = %4
  %20 = call i32 @model_init() #8
  %21 = icmp eq i32 %20, 0
  br i1 %21, label %25, label %22

22:                                               ; preds = %19
  %23 = call ptr @model_status_text(i32 noundef %20) #8
  %24 = call fastcc ptr @fail(ptr noundef %1, i32 noundef 9, ptr noundef %23) #10
  br label %236

25:                                               ; preds = %4, %19
  call void @llvm.lifetime.start.p0(i64 56, ptr nonnull %10) #9
  %26 = call i32 @model_describe(ptr noundef nonnull %10) #8
  call void @llvm.lifetime.start.p0(i64 128, ptr nonnull %11) #9
  call void @llvm.memset.p0.i64(ptr noundef nonnull align 16 dereferenceable(128) %11, i8 0, i64 128, i1 false)
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %12) #9
  store i64 128, ptr %12, align 8
  %27 = getelementptr inbounds %struct.ort_api, ptr %1, i64 0, i32 19
  %28 = load ptr, ptr %27, align 8
  %29 = call ptr %28(ptr noundef %2, ptr noundef nonnull @.str.4, ptr noundef nonnull %11, ptr noundef nonnull %12) #8
  %30 = icmp eq ptr %29, null
  br i1 %30, label %31, label %53

31:                                               ; preds = %25
  %32 = getelementptr inbounds %struct.model_description, ptr %10, i64 0, i32 1
  %33 = load ptr, ptr %32, align 8
  %34 = load i8, ptr %11, align 16
  %35 = icmp eq i8 %34, 0
  br i1 %35, label %47, label %36

36:                                               ; preds = %31, %42
  %37 = phi i8 [ %45, %42 ], [ %34, %31 ]
  %38 = phi ptr [ %44, %42 ], [ %33, %31 ]
  %39 = phi ptr [ %43, %42 ], [ %11, %31 ]
  %40 = load i8, ptr %38, align 1
  %41 = icmp eq i8 %37, %40
  br i1 %41, label %42, label %47

42:                                               ; preds = %36
  %43 = getelementptr inbounds i8, ptr %39, i64 1
  %44 = getelementptr inbounds i8, ptr %38, i64 1
  %45 = load i8, ptr %43, align 1
  %46 = icmp eq i8 %45, 0
  br i1 %46, label %47, label %36, !llvm.loop !5

47:                                               ; preds = %42, %36, %31
  %48 = phi ptr [ %33, %31 ], [ %44, %42 ], [ %38, %36 ]
  %49 = phi i8 [ 0, %31 ], [ 0, %42 ], [ %37, %36 ]
  %50 = load i8, ptr %48, align 1
  %51 = icmp eq i8 %49, %50
  br i1 %51, label %52, label %56

52:                                               ; preds = %47
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %12) #9
  call void @llvm.lifetime.end.p0(i64 128, ptr nonnull %11) #9
  call void @llvm.lifetime.end.p0(i64 56, ptr nonnull %10) #9
  br label %59

53:                                               ; preds = %25
  %54 = getelementptr inbounds %struct.ort_api, ptr %1, i64 0, i32 24
  %55 = load ptr, ptr %54, align 8
  call void %55(ptr noundef nonnull %29) #8
  br label %56

56:                                               ; preds = %47, %53
  %57 = call fastcc ptr @fail(ptr noundef %1, i32 noundef 2, ptr noundef nonnull @.str.5) #10
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %12) #9
  call void @llvm.lifetime.end.p0(i64 128, ptr nonnull %11) #9
  call void @llvm.lifetime.end.p0(i64 56, ptr nonnull %10) #9
  %58 = icmp eq ptr %57, null
  br i1 %58, label %59, label %236

59:                                               ; preds = %52, %56
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %8) #9
  store i64 8, ptr %8, align 8
  %60 = getelementptr inbounds %struct.ort_api, ptr %1, i64 0, i32 18
  %61 = load ptr, ptr %60, align 8
  %62 = call ptr %61(ptr noundef %2, ptr noundef nonnull @.str.6, ptr noundef nonnull %8) #8
  %63 = icmp eq ptr %62, null
  br i1 %63, label %67, label %64

64:                                               ; preds = %59
  %65 = getelementptr inbounds %struct.ort_api, ptr %1, i64 0, i32 24
  %66 = load ptr, ptr %65, align 8
  call void %66(ptr noundef nonnull %62) #8
  br label %205

67:                                               ; preds = %59
  %68 = load i64, ptr %8, align 8
  %69 = trunc i64 %68 to i32
  %70 = add i64 %68, -1
  %71 = icmp ult i64 %70, 64
  br i1 %71, label %205, label %72

72:                                               ; preds = %67
  call void @llvm.lifetime.start.p0(i64 520, ptr nonnull %9) #9
  call void @llvm.lifetime.start.p0(i64 56, ptr nonnull %7)
  store i64 0, ptr %9, align 8
  %73 = call i32 @model_describe(ptr noundef nonnull %7) #8
  %74 = load ptr, ptr %7, align 8
  %75 = load i8, ptr %74, align 1
  %76 = icmp eq i8 %75, 0
  br i1 %76, label %90, label %77

77:                                               ; preds = %72, %82
  %78 = phi i8 [ %86, %82 ], [ %75, %72 ]
  %79 = phi ptr [ %83, %82 ], [ %74, %72 ]
  %80 = load i64, ptr %9, align 8
  %81 = icmp ult i64 %80, 511
  br i1 %81, label %82, label %90

82:                                               ; preds = %77
  %83 = getelementptr inbounds i8, ptr %79, i64 1
  %84 = add nuw nsw i64 %80, 1
  store i64 %84, ptr %9, align 8
  %85 = getelementptr inbounds %struct.text, ptr %9, i64 0, i32 1, i64 %80
  store i8 %78, ptr %85, align 1
  %86 = load i8, ptr %83, align 1
  %87 = icmp eq i8 %86, 0
  br i1 %87, label %88, label %77, !llvm.loop !4

88:                                               ; preds = %82
  %89 = load i64, ptr %9, align 8
  br label %90

90:                                               ; preds = %77, %88, %72
  %91 = phi i64 [ 0, %72 ], [ %89, %88 ], [ %80, %77 ]
  %92 = getelementptr inbounds %struct.text, ptr %9, i64 0, i32 1, i64 %91
  store i8 0, ptr %92, align 1
  %93 = load i64, ptr %9, align 8
  %94 = icmp ult i64 %93, 511
  br i1 %94, label %95, label %104

95:                                               ; preds = %90
  %96 = add nuw nsw i64 %93, 1
  store i64 %96, ptr %9, align 8
  %97 = getelementptr inbounds %struct.text, ptr %9, i64 0, i32 1, i64 %93
  store i8 58, ptr %97, align 1
  %98 = load i64, ptr %9, align 8
  %99 = icmp ult i64 %98, 511
  br i1 %99, label %100, label %104

100:                                              ; preds = %95
  %101 = add nuw nsw i64 %98, 1
  store i64 %101, ptr %9, align 8
  %102 = getelementptr inbounds %struct.text, ptr %9, i64 0, i32 1, i64 %98
  store i8 32, ptr %102, align 1
  %103 = load i64, ptr %9, align 8
  br label %104

104:                                              ; preds = %100, %95, %90
  %105 = phi i64 [ %103, %100 ], [ %98, %95 ], [ %93, %90 ]
  %106 = getelementptr inbounds %struct.text, ptr %9, i64 0, i32 1, i64 %105
  store i8 0, ptr %106, align 1
  call void @llvm.lifetime.end.p0(i64 56, ptr nonnull %7)
  br label %107

107:                                              ; preds = %121, %104
  %108 = phi i8 [ 116, %104 ], [ %125, %121 ]
  %109 = phi ptr [ @.str.7, %104 ], [ %122, %121 ]
  %110 = load i64, ptr %9, align 8
  %111 = icmp ult i64 %110, 511
  br i1 %111, label %112, label %128

112:                                              ; preds = %107
  %113 = getelementptr inbounds i8, ptr %109, i64 1
  %114 = add nuw nsw i64 %110, 1
  store i64 %114, ptr %9, align 8
  %115 = getelementptr inbounds %struct.text, ptr %9, i64 0, i32 1, i64 %110
  store i8 %108, ptr %115, align 1
  %116 = load i8, ptr %113, align 1
  %117 = icmp eq ptr %113, getelementptr inbounds ([36 x i8], ptr @.str.7, i64 0, i64 35)
  br i1 %117, label %126, label %118, !llvm.loop !4

118:                                              ; preds = %112
  %119 = load i64, ptr %9, align 8
  %120 = icmp ult i64 %119, 511
  br i1 %120, label %121, label %128

121:                                              ; preds = %118
  %122 = getelementptr inbounds i8, ptr %109, i64 2
  %123 = add nuw nsw i64 %119, 1
  store i64 %123, ptr %9, align 8
  %124 = getelementptr inbounds %struct.text, ptr %9, i64 0, i32 1, i64 %119
  store i8 %116, ptr %124, align 1
  %125 = load i8, ptr %122, align 1
  br label %107

126:                                              ; preds = %112
  %127 = load i64, ptr %9, align 8
  br label %128

128:                                              ; preds = %107, %118, %126
  %129 = phi i64 [ %127, %126 ], [ %110, %107 ], [ %119, %118 ]
  %130 = getelementptr inbounds %struct.text, ptr %9, i64 0, i32 1, i64 %129
  store i8 0, ptr %130, align 1
  %131 = load i64, ptr %8, align 8
  call void @llvm.lifetime.start.p0(i64 24, ptr nonnull %6) #9
  %132 = getelementptr inbounds i8, ptr %6, i64 23
  %133 = call i64 @llvm.abs.i64(i64 %131, i1 false)
  store i8 0, ptr %132, align 1
  br label %134

134:                                              ; preds = %134, %128
  %135 = phi ptr [ %132, %128 ], [ %140, %134 ]
  %136 = phi i64 [ %133, %128 ], [ %141, %134 ]
  %137 = urem i64 %136, 10
  %138 = trunc i64 %137 to i8
  %139 = or i8 %138, 48
  %140 = getelementptr inbounds i8, ptr %135, i64 -1
  store i8 %139, ptr %140, align 1
  %141 = udiv i64 %136, 10
  %142 = icmp ult i64 %136, 10
  br i1 %142, label %143, label %134, !llvm.loop !7

143:                                              ; preds = %134
  %144 = icmp slt i64 %131, 0
  br i1 %144, label %145, label %147

145:                                              ; preds = %143
  %146 = getelementptr inbounds i8, ptr %135, i64 -2
  store i8 45, ptr %146, align 1
  br label %147

147:                                              ; preds = %145, %143
  %148 = phi i8 [ %139, %143 ], [ 45, %145 ]
  %149 = phi ptr [ %140, %143 ], [ %146, %145 ]
  br label %150

150:                                              ; preds = %147, %155
  %151 = phi i8 [ %159, %155 ], [ %148, %147 ]
  %152 = phi ptr [ %156, %155 ], [ %149, %147 ]
  %153 = load i64, ptr %9, align 8
  %154 = icmp ult i64 %153, 511
  br i1 %154, label %155, label %163

155:                                              ; preds = %150
  %156 = getelementptr inbounds i8, ptr %152, i64 1
  %157 = add nuw nsw i64 %153, 1
  store i64 %157, ptr %9, align 8
  %158 = getelementptr inbounds %struct.text, ptr %9, i64 0, i32 1, i64 %153
  store i8 %151, ptr %158, align 1
  %159 = load i8, ptr %156, align 1
  %160 = icmp eq i8 %159, 0
  br i1 %160, label %161, label %150, !llvm.loop !4

161:                                              ; preds = %155
  %162 = load i64, ptr %9, align 8
  br label %163

163:                                              ; preds = %150, %161
  %164 = phi i64 [ %162, %161 ], [ %153, %150 ]
  %165 = getelementptr inbounds %struct.text, ptr %9, i64 0, i32 1, i64 %164
  store i8 0, ptr %165, align 1
  call void @llvm.lifetime.end.p0(i64 24, ptr nonnull %6) #9
  br label %166

166:                                              ; preds = %176, %163
  %167 = phi i8 [ 59, %163 ], [ %182, %176 ]
  %168 = phi ptr [ @.str.8, %163 ], [ %179, %176 ]
  %169 = load i64, ptr %9, align 8
  %170 = icmp ult i64 %169, 511
  br i1 %170, label %171, label %186

171:                                              ; preds = %166
  %172 = add nuw nsw i64 %169, 1
  store i64 %172, ptr %9, align 8
  %173 = getelementptr inbounds %struct.text, ptr %9, i64 0, i32 1, i64 %169
  store i8 %167, ptr %173, align 1
  %174 = load i64, ptr %9, align 8
  %175 = icmp ult i64 %174, 511
  br i1 %175, label %176, label %186

176:                                              ; preds = %171
  %177 = getelementptr inbounds i8, ptr %168, i64 1
  %178 = load i8, ptr %177, align 1
  %179 = getelementptr inbounds i8, ptr %168, i64 2
  %180 = add nuw nsw i64 %174, 1
  store i64 %180, ptr %9, align 8
  %181 = getelementptr inbounds %struct.text, ptr %9, i64 0, i32 1, i64 %174
  store i8 %178, ptr %181, align 1
  %182 = load i8, ptr %179, align 1
  %183 = icmp eq ptr %179, getelementptr inbounds ([27 x i8], ptr @.str.8, i64 0, i64 26)
  br i1 %183, label %184, label %166, !llvm.loop !4

184:                                              ; preds = %176
  %185 = load i64, ptr %9, align 8
  br label %186

186:                                              ; preds = %166, %171, %184
  %187 = phi i64 [ %185, %184 ], [ %169, %166 ], [ %174, %171 ]
  %188 = getelementptr inbounds %struct.text, ptr %9, i64 0, i32 1, i64 %187
  store i8 0, ptr %188, align 1
  call void @llvm.lifetime.start.p0(i64 24, ptr nonnull %5) #9
  %189 = getelementptr inbounds i8, ptr %5, i64 23
  store i8 0, ptr %189, align 1
  %190 = getelementptr inbounds i8, ptr %5, i64 22
  store i8 52, ptr %190, align 2
  %191 = getelementptr inbounds i8, ptr %5, i64 21
  store i8 54, ptr %191, align 1
  br label %192

192:                                              ; preds = %197, %186
  %193 = phi i8 [ %201, %197 ], [ 54, %186 ]
  %194 = phi ptr [ %198, %197 ], [ %191, %186 ]
  %195 = load i64, ptr %9, align 8
  %196 = icmp ult i64 %195, 511
  br i1 %196, label %197, label %207

197:                                              ; preds = %192
  %198 = getelementptr inbounds i8, ptr %194, i64 1
  %199 = add nuw nsw i64 %195, 1
  store i64 %199, ptr %9, align 8
  %200 = getelementptr inbounds %struct.text, ptr %9, i64 0, i32 1, i64 %195
  store i8 %193, ptr %200, align 1
  %201 = load i8, ptr %198, align 1
  %202 = icmp eq i8 %201, 0
  br i1 %202, label %203, label %192, !llvm.loop !4

203:                                              ; preds = %197
  %204 = load i64, ptr %9, align 8
  br label %207

205:                                              ; preds = %67, %64
  %206 = phi i32 [ 8, %64 ], [ %69, %67 ]
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %8) #9
  br label %214

207:                                              ; preds = %192, %203
  %208 = phi i64 [ %204, %203 ], [ %195, %192 ]
  %209 = getelementptr inbounds %struct.text, ptr %9, i64 0, i32 1, i64 %208
  store i8 0, ptr %209, align 1
  call void @llvm.lifetime.end.p0(i64 24, ptr nonnull %5) #9
  %210 = load ptr, ptr %1, align 8
  %211 = getelementptr inbounds %struct.text, ptr %9, i64 0, i32 1
  %212 = call ptr %210(i32 noundef 2, ptr noundef nonnull %211) #8
  call void @llvm.lifetime.end.p0(i64 520, ptr nonnull %9) #9
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %8) #9
  %213 = icmp eq ptr %212, null
  br i1 %213, label %214, label %236

214:                                              ; preds = %207, %205
  %215 = phi i32 [ %206, %205 ], [ %69, %207 ]
  %216 = getelementptr inbounds %struct.ort_api, ptr %1, i64 0, i32 16
  %217 = load ptr, ptr %216, align 8
  %218 = call ptr %217(ptr noundef nonnull %13) #8
  %219 = icmp eq ptr %218, null
  br i1 %219, label %220, label %236

220:                                              ; preds = %214
  %221 = getelementptr inbounds %struct.ort_api, ptr %1, i64 0, i32 13
  %222 = load ptr, ptr %221, align 8
  %223 = load ptr, ptr %13, align 8
  %224 = call ptr %222(ptr noundef %223, i64 noundef 88, ptr noundef %3) #8
  %225 = icmp eq ptr %224, null
  br i1 %225, label %226, label %236

226:                                              ; preds = %220
  %227 = load ptr, ptr %3, align 8
  %228 = icmp eq ptr %227, null
  br i1 %228, label %229, label %231

229:                                              ; preds = %226
  %230 = call fastcc ptr @fail(ptr noundef nonnull %1, i32 noundef 6, ptr noundef nonnull @.str.3) #10
  br label %236

231:                                              ; preds = %226
  %232 = load ptr, ptr %13, align 8
  store ptr %1, ptr %227, align 8
  %233 = getelementptr inbounds i8, ptr %227, i64 8
  store ptr %232, ptr %233, align 8
  %234 = getelementptr inbounds i8, ptr %227, i64 16
  store i32 %215, ptr %234, align 8
  %235 = getelementptr inbounds i8, ptr %227, i64 20
  call void @llvm.memset.p0.i64(ptr noundef nonnull align 4 dereferenceable(68) %235, i8 0, i64 68, i1 false)
  br label %236

236:                                              ; preds = %56, %207, %214, %229, %231, %220, %22
  %237 = phi ptr [ %24, %22 ], [ null, %231 ], [ %230, %229 ], [ %224, %220 ], [ %218, %214 ], [ %212, %207 ], [ %57, %56 ]
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %13) #9
  ret ptr %237
}

; Function Attrs: nounwind
define internal ptr @compute(ptr noundef %0, ptr noundef %1) #0 {
  %3 = alloca ptr, align 8
  %4 = alloca %struct.model_tensor, align 8
  %5 = alloca %struct.model_description, align 8
  %6 = alloca %struct.text, align 8
  %7 = alloca ptr, align 8
  %8 = alloca [8 x i64], align 16
  %9 = alloca i64, align 8
  %10 = alloca ptr, align 8
  %11 = alloca %struct.model_tensor, align 8
  %12 = alloca ptr, align 8
  %13 = alloca %struct.model_threads, align 8
  %14 = alloca ptr, align 8
  %15 = alloca %struct.run, align 8
  %16 = alloca %struct.model_tensor, align 8
  call void @llvm.lifetime.start.p0(i64 104, ptr nonnull %15) #9
  store ptr %0, ptr %15, align 8
  %17 = getelementptr inbounds %struct.run, ptr %15, i64 0, i32 1
  store ptr %1, ptr %17, align 8
  %18 = getelementptr inbounds %struct.run, ptr %15, i64 0, i32 2
  %19 = call i32 @model_describe(ptr noundef nonnull %18) #8
  %20 = getelementptr inbounds %struct.run, ptr %15, i64 0, i32 3
  store ptr null, ptr %20, align 8
  %21 = getelementptr inbounds %struct.run, ptr %15, i64 0, i32 4
  store ptr null, ptr %21, align 8
  %22 = getelementptr inbounds %struct.run, ptr %15, i64 0, i32 5
  store ptr null, ptr %22, align 8
  %23 = getelementptr inbounds %struct.run, ptr %15, i64 0, i32 6
  store ptr null, ptr %23, align 8
  %24 = getelementptr inbounds %struct.run, ptr %15, i64 0, i32 2, i32 6
  %25 = load i32, ptr %24, align 4
  %26 = getelementptr inbounds %struct.run, ptr %15, i64 0, i32 2, i32 7
  %27 = load i32, ptr %26, align 8
  %28 = add i32 %27, %25
  %29 = zext i32 %28 to i64
  %30 = shl nuw nsw i64 %29, 4
  %31 = zext i32 %27 to i64
  %32 = shl nuw nsw i64 %31, 3
  %33 = add nuw nsw i64 %32, 63
  %34 = add nuw nsw i64 %33, %30
  %35 = and i64 %34, 137438953408
  %36 = sub i32 0, %25
  %37 = icmp eq i32 %27, %36
  br i1 %37, label %40, label %38

38:                                               ; preds = %2
  %39 = getelementptr inbounds %struct.model_tensor, ptr %16, i64 0, i32 5
  br label %46

40:                                               ; preds = %56, %2
  %41 = phi i64 [ %35, %2 ], [ %60, %56 ]
  %42 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 2
  %43 = load i32, ptr %42, align 8
  %44 = call i64 @model_workspace_bytes(ptr noundef null, i32 noundef %43) #8
  %45 = icmp slt i64 %44, 0
  br i1 %45, label %66, label %71

46:                                               ; preds = %38, %56
  %47 = phi i32 [ %25, %38 ], [ %62, %56 ]
  %48 = phi i32 [ 0, %38 ], [ %61, %56 ]
  %49 = phi i64 [ %35, %38 ], [ %60, %56 ]
  call void @llvm.lifetime.start.p0(i64 112, ptr nonnull %16) #9
  %50 = icmp ult i32 %48, %47
  br i1 %50, label %51, label %53

51:                                               ; preds = %46
  %52 = call i32 @model_input(i32 noundef %48, ptr noundef null, ptr noundef nonnull %16) #8
  br label %56

53:                                               ; preds = %46
  %54 = sub i32 %48, %47
  %55 = call i32 @model_output(i32 noundef %54, ptr noundef null, ptr noundef nonnull %16) #8
  br label %56

56:                                               ; preds = %51, %53
  %57 = load i64, ptr %39, align 8
  %58 = add i64 %57, 63
  %59 = and i64 %58, -64
  %60 = add i64 %59, %49
  call void @llvm.lifetime.end.p0(i64 112, ptr nonnull %16) #9
  %61 = add nuw i32 %48, 1
  %62 = load i32, ptr %24, align 4
  %63 = load i32, ptr %26, align 8
  %64 = add i32 %63, %62
  %65 = icmp ult i32 %61, %64
  br i1 %65, label %46, label %40, !llvm.loop !8

66:                                               ; preds = %40
  %67 = load ptr, ptr %0, align 8
  %68 = trunc i64 %44 to i32
  %69 = call ptr @model_status_text(i32 noundef %68) #8
  %70 = call fastcc ptr @fail(ptr noundef %67, i32 noundef 6, ptr noundef %69) #10
  br label %618

71:                                               ; preds = %40
  %72 = add i64 %44, %41
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %14) #9
  store ptr null, ptr %14, align 8
  %73 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3
  %74 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 1
  br label %75

75:                                               ; preds = %96, %71
  %76 = phi i64 [ 0, %71 ], [ %97, %96 ]
  %77 = getelementptr inbounds ptr, ptr %73, i64 %76
  %78 = atomicrmw xchg ptr %77, i64 0 acq_rel, align 8
  %79 = inttoptr i64 %78 to ptr
  %80 = icmp eq i64 %78, 0
  br i1 %80, label %96, label %81

81:                                               ; preds = %75
  %82 = getelementptr inbounds %struct.block, ptr %79, i64 0, i32 1
  %83 = load i64, ptr %82, align 8
  %84 = icmp ult i64 %83, %72
  br i1 %84, label %85, label %118

85:                                               ; preds = %81
  %86 = load ptr, ptr %0, align 8
  %87 = getelementptr inbounds %struct.ort_api, ptr %86, i64 0, i32 14
  %88 = load ptr, ptr %87, align 8
  %89 = load ptr, ptr %74, align 8
  %90 = call ptr %88(ptr noundef %89, ptr noundef nonnull %79) #8
  %91 = icmp eq ptr %90, null
  br i1 %91, label %96, label %92

92:                                               ; preds = %85
  %93 = load ptr, ptr %0, align 8
  %94 = getelementptr inbounds %struct.ort_api, ptr %93, i64 0, i32 24
  %95 = load ptr, ptr %94, align 8
  call void %95(ptr noundef nonnull %90) #8
  br label %96

96:                                               ; preds = %92, %85, %75
  %97 = add nuw nsw i64 %76, 1
  %98 = icmp eq i64 %97, 8
  br i1 %98, label %99, label %75, !llvm.loop !9

99:                                               ; preds = %96
  %100 = load ptr, ptr %0, align 8
  %101 = getelementptr inbounds %struct.ort_api, ptr %100, i64 0, i32 13
  %102 = load ptr, ptr %101, align 8
  %103 = load ptr, ptr %74, align 8
  %104 = add i64 %72, 80
  %105 = call ptr %102(ptr noundef %103, i64 noundef %104, ptr noundef nonnull %14) #8
  %106 = icmp eq ptr %105, null
  br i1 %106, label %108, label %107

107:                                              ; preds = %99
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %14) #9
  br label %618

108:                                              ; preds = %99
  %109 = load ptr, ptr %14, align 8
  %110 = icmp eq ptr %109, null
  br i1 %110, label %122, label %111

111:                                              ; preds = %108
  %112 = getelementptr inbounds %struct.block, ptr %109, i64 0, i32 1
  store i64 %72, ptr %112, align 8
  %113 = getelementptr inbounds %struct.block, ptr %109, i64 1
  %114 = ptrtoint ptr %113 to i64
  %115 = sub i64 0, %114
  %116 = and i64 %115, 63
  %117 = getelementptr inbounds i8, ptr %113, i64 %116
  store ptr %117, ptr %109, align 8
  br label %120

118:                                              ; preds = %81
  %119 = inttoptr i64 %78 to ptr
  br label %120

120:                                              ; preds = %118, %111
  %121 = phi ptr [ %109, %111 ], [ %119, %118 ]
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %14) #9
  br label %126

122:                                              ; preds = %108
  %123 = load ptr, ptr %0, align 8
  %124 = call fastcc ptr @fail(ptr noundef %123, i32 noundef 6, ptr noundef nonnull @.str.9) #10
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %14) #9
  %125 = icmp eq ptr %124, null
  br i1 %125, label %126, label %618

126:                                              ; preds = %120, %122
  %127 = phi ptr [ %121, %120 ], [ null, %122 ]
  %128 = load ptr, ptr %127, align 8
  call void @llvm.lifetime.start.p0(i64 24, ptr nonnull %13) #9
  %129 = load ptr, ptr %15, align 8
  %130 = getelementptr inbounds %struct.kernel, ptr %129, i64 0, i32 2
  %131 = load i32, ptr %130, align 8
  store i32 %131, ptr %13, align 8
  %132 = getelementptr inbounds %struct.model_threads, ptr %13, i64 0, i32 1
  store ptr @launch, ptr %132, align 8
  %133 = getelementptr inbounds %struct.model_threads, ptr %13, i64 0, i32 2
  store ptr %15, ptr %133, align 8
  %134 = load i32, ptr %24, align 4
  %135 = load i32, ptr %26, align 8
  store ptr %128, ptr %20, align 8
  %136 = zext i32 %134 to i64
  %137 = getelementptr inbounds %struct.model_buffer, ptr %128, i64 %136
  %138 = zext i32 %135 to i64
  %139 = getelementptr inbounds %struct.model_buffer, ptr %137, i64 %138
  store ptr %139, ptr %21, align 8
  %140 = add i32 %135, %134
  %141 = zext i32 %140 to i64
  %142 = shl nuw nsw i64 %141, 4
  %143 = shl nuw nsw i64 %138, 3
  %144 = add nuw nsw i64 %143, 63
  %145 = add nuw nsw i64 %144, %142
  %146 = and i64 %145, 137438953408
  %147 = getelementptr inbounds i8, ptr %128, i64 %146
  store ptr %147, ptr %22, align 8
  %148 = icmp eq i32 %134, 0
  br i1 %148, label %155, label %149

149:                                              ; preds = %126
  %150 = getelementptr inbounds %struct.model_tensor, ptr %11, i64 0, i32 2
  %151 = getelementptr inbounds %struct.model_tensor, ptr %11, i64 0, i32 4
  %152 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1
  %153 = getelementptr inbounds %struct.model_tensor, ptr %11, i64 0, i32 5
  %154 = getelementptr inbounds %struct.model_tensor, ptr %11, i64 0, i32 3
  br label %165

155:                                              ; preds = %450, %126
  %156 = phi ptr [ null, %126 ], [ %451, %450 ]
  %157 = icmp eq ptr %156, null
  %158 = icmp ne i32 %135, 0
  %159 = select i1 %157, i1 %158, i1 false
  br i1 %159, label %160, label %456

160:                                              ; preds = %155
  %161 = getelementptr inbounds %struct.model_tensor, ptr %4, i64 0, i32 4
  %162 = getelementptr inbounds %struct.model_tensor, ptr %4, i64 0, i32 2
  %163 = getelementptr inbounds %struct.model_tensor, ptr %4, i64 0, i32 5
  %164 = getelementptr inbounds %struct.model_tensor, ptr %4, i64 0, i32 3
  br label %459

165:                                              ; preds = %450, %149
  %166 = phi i64 [ 0, %149 ], [ %452, %450 ]
  %167 = load ptr, ptr %15, align 8
  %168 = load ptr, ptr %167, align 8
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %10) #9
  store ptr null, ptr %10, align 8
  call void @llvm.lifetime.start.p0(i64 112, ptr nonnull %11) #9
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %12) #9
  store ptr null, ptr %12, align 8
  %169 = load i32, ptr %24, align 4
  %170 = zext i32 %169 to i64
  %171 = icmp ult i64 %166, %170
  %172 = trunc i64 %166 to i32
  br i1 %171, label %173, label %175

173:                                              ; preds = %165
  %174 = call i32 @model_input(i32 noundef %172, ptr noundef null, ptr noundef nonnull %11) #8
  br label %178

175:                                              ; preds = %165
  %176 = sub i32 %172, %169
  %177 = call i32 @model_output(i32 noundef %176, ptr noundef null, ptr noundef nonnull %11) #8
  br label %178

178:                                              ; preds = %175, %173
  %179 = getelementptr inbounds %struct.ort_api, ptr %168, i64 0, i32 21
  %180 = load ptr, ptr %179, align 8
  %181 = load ptr, ptr %17, align 8
  %182 = call ptr %180(ptr noundef %181, i64 noundef %166, ptr noundef nonnull %10) #8
  %183 = icmp eq ptr %182, null
  br i1 %183, label %184, label %448

184:                                              ; preds = %178
  %185 = load ptr, ptr %10, align 8
  %186 = icmp eq ptr %185, null
  br i1 %186, label %187, label %189

187:                                              ; preds = %184
  %188 = call fastcc ptr @fail(ptr noundef nonnull %168, i32 noundef 2, ptr noundef nonnull @.str.10) #10
  br label %450

189:                                              ; preds = %184
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %7) #9
  store ptr null, ptr %7, align 8
  call void @llvm.lifetime.start.p0(i64 64, ptr nonnull %8) #9
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %9) #9
  store i64 0, ptr %9, align 8
  %190 = getelementptr inbounds %struct.ort_api, ptr %168, i64 0, i32 11
  %191 = load ptr, ptr %190, align 8
  %192 = call ptr %191(ptr noundef nonnull %185, ptr noundef nonnull %7) #8
  %193 = icmp eq ptr %192, null
  br i1 %193, label %194, label %413

194:                                              ; preds = %189
  %195 = getelementptr inbounds %struct.ort_api, ptr %168, i64 0, i32 8
  %196 = load ptr, ptr %195, align 8
  %197 = load ptr, ptr %7, align 8
  %198 = call ptr %196(ptr noundef %197, ptr noundef nonnull %9) #8
  %199 = icmp eq ptr %198, null
  br i1 %199, label %200, label %207

200:                                              ; preds = %194
  %201 = getelementptr inbounds %struct.ort_api, ptr %168, i64 0, i32 9
  %202 = load ptr, ptr %201, align 8
  %203 = load ptr, ptr %7, align 8
  %204 = load i64, ptr %9, align 8
  %205 = call i64 @llvm.umin.i64(i64 %204, i64 8)
  %206 = call ptr %202(ptr noundef %203, ptr noundef nonnull %8, i64 noundef %205) #8
  br label %207

207:                                              ; preds = %200, %194
  %208 = phi ptr [ %198, %194 ], [ %206, %200 ]
  %209 = getelementptr inbounds %struct.ort_api, ptr %168, i64 0, i32 26
  %210 = load ptr, ptr %209, align 8
  %211 = load ptr, ptr %7, align 8
  call void %210(ptr noundef %211) #8
  %212 = icmp eq ptr %208, null
  br i1 %212, label %213, label %413

213:                                              ; preds = %207
  %214 = load i64, ptr %9, align 8
  %215 = load i32, ptr %150, align 8
  %216 = zext i32 %215 to i64
  %217 = icmp eq i64 %214, %216
  %218 = icmp ne i64 %214, 0
  %219 = and i1 %218, %217
  br i1 %219, label %223, label %220

220:                                              ; preds = %223, %213
  %221 = phi i1 [ %217, %213 ], [ %229, %223 ]
  br i1 %221, label %222, label %233

222:                                              ; preds = %220
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %9) #9
  call void @llvm.lifetime.end.p0(i64 64, ptr nonnull %8) #9
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %7) #9
  br label %423

223:                                              ; preds = %213, %223
  %224 = phi i64 [ %230, %223 ], [ 0, %213 ]
  %225 = getelementptr inbounds [8 x i64], ptr %8, i64 0, i64 %224
  %226 = load i64, ptr %225, align 8
  %227 = getelementptr inbounds %struct.model_tensor, ptr %11, i64 0, i32 4, i64 %224
  %228 = load i64, ptr %227, align 8
  %229 = icmp eq i64 %226, %228
  %230 = add nuw i64 %224, 1
  %231 = icmp ult i64 %230, %214
  %232 = select i1 %229, i1 %231, i1 false
  br i1 %232, label %223, label %220, !llvm.loop !10

233:                                              ; preds = %220
  call void @llvm.lifetime.start.p0(i64 520, ptr nonnull %6) #9
  call void @llvm.lifetime.start.p0(i64 56, ptr nonnull %5)
  store i64 0, ptr %6, align 8
  %234 = call i32 @model_describe(ptr noundef nonnull %5) #8
  %235 = load ptr, ptr %5, align 8
  %236 = load i8, ptr %235, align 1
  %237 = icmp eq i8 %236, 0
  br i1 %237, label %249, label %238

238:                                              ; preds = %233, %243
  %239 = phi i8 [ %247, %243 ], [ %236, %233 ]
  %240 = phi ptr [ %244, %243 ], [ %235, %233 ]
  %241 = load i64, ptr %6, align 8
  %242 = icmp ult i64 %241, 511
  br i1 %242, label %243, label %249

243:                                              ; preds = %238
  %244 = getelementptr inbounds i8, ptr %240, i64 1
  %245 = add nuw nsw i64 %241, 1
  store i64 %245, ptr %6, align 8
  %246 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %241
  store i8 %239, ptr %246, align 1
  %247 = load i8, ptr %244, align 1
  %248 = icmp eq i8 %247, 0
  br i1 %248, label %249, label %238, !llvm.loop !4

249:                                              ; preds = %243, %238, %233
  %250 = load i64, ptr %6, align 8
  %251 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %250
  store i8 0, ptr %251, align 1
  %252 = load i64, ptr %6, align 8
  %253 = icmp ult i64 %252, 511
  br i1 %253, label %254, label %263

254:                                              ; preds = %249
  %255 = add nuw nsw i64 %252, 1
  store i64 %255, ptr %6, align 8
  %256 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %252
  store i8 58, ptr %256, align 1
  %257 = load i64, ptr %6, align 8
  %258 = icmp ult i64 %257, 511
  br i1 %258, label %259, label %263

259:                                              ; preds = %254
  %260 = add nuw nsw i64 %257, 1
  store i64 %260, ptr %6, align 8
  %261 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %257
  store i8 32, ptr %261, align 1
  %262 = load i64, ptr %6, align 8
  br label %263

263:                                              ; preds = %259, %254, %249
  %264 = phi i64 [ %262, %259 ], [ %257, %254 ], [ %252, %249 ]
  %265 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %264
  store i8 0, ptr %265, align 1
  call void @llvm.lifetime.end.p0(i64 56, ptr nonnull %5)
  %266 = load i64, ptr %6, align 8
  %267 = icmp ult i64 %266, 511
  br i1 %267, label %268, label %302

268:                                              ; preds = %263
  %269 = add nuw nsw i64 %266, 1
  store i64 %269, ptr %6, align 8
  %270 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %266
  store i8 105, ptr %270, align 1
  %271 = load i64, ptr %6, align 8
  %272 = icmp ult i64 %271, 511
  br i1 %272, label %273, label %302

273:                                              ; preds = %268
  %274 = add nuw nsw i64 %271, 1
  store i64 %274, ptr %6, align 8
  %275 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %271
  store i8 110, ptr %275, align 1
  %276 = load i64, ptr %6, align 8
  %277 = icmp ult i64 %276, 511
  br i1 %277, label %278, label %302

278:                                              ; preds = %273
  %279 = add nuw nsw i64 %276, 1
  store i64 %279, ptr %6, align 8
  %280 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %276
  store i8 112, ptr %280, align 1
  %281 = load i64, ptr %6, align 8
  %282 = icmp ult i64 %281, 511
  br i1 %282, label %283, label %302

283:                                              ; preds = %278
  %284 = add nuw nsw i64 %281, 1
  store i64 %284, ptr %6, align 8
  %285 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %281
  store i8 117, ptr %285, align 1
  %286 = load i64, ptr %6, align 8
  %287 = icmp ult i64 %286, 511
  br i1 %287, label %288, label %302

288:                                              ; preds = %283
  %289 = add nuw nsw i64 %286, 1
  store i64 %289, ptr %6, align 8
  %290 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %286
  store i8 116, ptr %290, align 1
  %291 = load i64, ptr %6, align 8
  %292 = icmp ult i64 %291, 511
  br i1 %292, label %293, label %302

293:                                              ; preds = %288
  %294 = add nuw nsw i64 %291, 1
  store i64 %294, ptr %6, align 8
  %295 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %291
  store i8 32, ptr %295, align 1
  %296 = load i64, ptr %6, align 8
  %297 = icmp ult i64 %296, 511
  br i1 %297, label %298, label %302

298:                                              ; preds = %293
  %299 = add nuw nsw i64 %296, 1
  store i64 %299, ptr %6, align 8
  %300 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %296
  store i8 39, ptr %300, align 1
  %301 = load i64, ptr %6, align 8
  br label %302

302:                                              ; preds = %298, %293, %288, %283, %278, %273, %268, %263
  %303 = phi i64 [ %301, %298 ], [ %296, %293 ], [ %291, %288 ], [ %286, %283 ], [ %281, %278 ], [ %276, %273 ], [ %271, %268 ], [ %266, %263 ]
  %304 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %303
  store i8 0, ptr %304, align 1
  %305 = load ptr, ptr %11, align 8
  %306 = load i8, ptr %305, align 1
  %307 = icmp eq i8 %306, 0
  br i1 %307, label %319, label %308

308:                                              ; preds = %302, %313
  %309 = phi i8 [ %317, %313 ], [ %306, %302 ]
  %310 = phi ptr [ %314, %313 ], [ %305, %302 ]
  %311 = load i64, ptr %6, align 8
  %312 = icmp ult i64 %311, 511
  br i1 %312, label %313, label %319

313:                                              ; preds = %308
  %314 = getelementptr inbounds i8, ptr %310, i64 1
  %315 = add nuw nsw i64 %311, 1
  store i64 %315, ptr %6, align 8
  %316 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %311
  store i8 %309, ptr %316, align 1
  %317 = load i8, ptr %314, align 1
  %318 = icmp eq i8 %317, 0
  br i1 %318, label %319, label %308, !llvm.loop !4

319:                                              ; preds = %313, %308, %302
  %320 = load i64, ptr %6, align 8
  %321 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %320
  store i8 0, ptr %321, align 1
  %322 = load i64, ptr %6, align 8
  %323 = icmp ult i64 %322, 511
  br i1 %323, label %324, label %383

324:                                              ; preds = %319
  %325 = add nuw nsw i64 %322, 1
  store i64 %325, ptr %6, align 8
  %326 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %322
  store i8 39, ptr %326, align 1
  %327 = load i64, ptr %6, align 8
  %328 = icmp ult i64 %327, 511
  br i1 %328, label %329, label %383

329:                                              ; preds = %324
  %330 = add nuw nsw i64 %327, 1
  store i64 %330, ptr %6, align 8
  %331 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %327
  store i8 32, ptr %331, align 1
  %332 = load i64, ptr %6, align 8
  %333 = icmp ult i64 %332, 511
  br i1 %333, label %334, label %383

334:                                              ; preds = %329
  %335 = add nuw nsw i64 %332, 1
  store i64 %335, ptr %6, align 8
  %336 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %332
  store i8 104, ptr %336, align 1
  %337 = load i64, ptr %6, align 8
  %338 = icmp ult i64 %337, 511
  br i1 %338, label %339, label %383

339:                                              ; preds = %334
  %340 = add nuw nsw i64 %337, 1
  store i64 %340, ptr %6, align 8
  %341 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %337
  store i8 97, ptr %341, align 1
  %342 = load i64, ptr %6, align 8
  %343 = icmp ult i64 %342, 511
  br i1 %343, label %344, label %383

344:                                              ; preds = %339
  %345 = add nuw nsw i64 %342, 1
  store i64 %345, ptr %6, align 8
  %346 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %342
  store i8 115, ptr %346, align 1
  %347 = load i64, ptr %6, align 8
  %348 = icmp ult i64 %347, 511
  br i1 %348, label %349, label %383

349:                                              ; preds = %344
  %350 = add nuw nsw i64 %347, 1
  store i64 %350, ptr %6, align 8
  %351 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %347
  store i8 32, ptr %351, align 1
  %352 = load i64, ptr %6, align 8
  %353 = icmp ult i64 %352, 511
  br i1 %353, label %354, label %383

354:                                              ; preds = %349
  %355 = add nuw nsw i64 %352, 1
  store i64 %355, ptr %6, align 8
  %356 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %352
  store i8 115, ptr %356, align 1
  %357 = load i64, ptr %6, align 8
  %358 = icmp ult i64 %357, 511
  br i1 %358, label %359, label %383

359:                                              ; preds = %354
  %360 = add nuw nsw i64 %357, 1
  store i64 %360, ptr %6, align 8
  %361 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %357
  store i8 104, ptr %361, align 1
  %362 = load i64, ptr %6, align 8
  %363 = icmp ult i64 %362, 511
  br i1 %363, label %364, label %383

364:                                              ; preds = %359
  %365 = add nuw nsw i64 %362, 1
  store i64 %365, ptr %6, align 8
  %366 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %362
  store i8 97, ptr %366, align 1
  %367 = load i64, ptr %6, align 8
  %368 = icmp ult i64 %367, 511
  br i1 %368, label %369, label %383

369:                                              ; preds = %364
  %370 = add nuw nsw i64 %367, 1
  store i64 %370, ptr %6, align 8
  %371 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %367
  store i8 112, ptr %371, align 1
  %372 = load i64, ptr %6, align 8
  %373 = icmp ult i64 %372, 511
  br i1 %373, label %374, label %383

374:                                              ; preds = %369
  %375 = add nuw nsw i64 %372, 1
  store i64 %375, ptr %6, align 8
  %376 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %372
  store i8 101, ptr %376, align 1
  %377 = load i64, ptr %6, align 8
  %378 = icmp ult i64 %377, 511
  br i1 %378, label %379, label %383

379:                                              ; preds = %374
  %380 = add nuw nsw i64 %377, 1
  store i64 %380, ptr %6, align 8
  %381 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %377
  store i8 32, ptr %381, align 1
  %382 = load i64, ptr %6, align 8
  br label %383

383:                                              ; preds = %379, %374, %369, %364, %359, %354, %349, %344, %339, %334, %329, %324, %319
  %384 = phi i64 [ %382, %379 ], [ %377, %374 ], [ %372, %369 ], [ %367, %364 ], [ %362, %359 ], [ %357, %354 ], [ %352, %349 ], [ %347, %344 ], [ %342, %339 ], [ %337, %334 ], [ %332, %329 ], [ %327, %324 ], [ %322, %319 ]
  %385 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %384
  store i8 0, ptr %385, align 1
  call fastcc void @add_shape(ptr noundef nonnull %6, ptr noundef nonnull %8, i64 noundef %214) #10
  br label %386

386:                                              ; preds = %403, %383
  %387 = phi i8 [ 32, %383 ], [ %409, %403 ]
  %388 = phi ptr [ @.str.13, %383 ], [ %406, %403 ]
  %389 = load i64, ptr %6, align 8
  %390 = icmp ult i64 %389, 511
  br i1 %390, label %391, label %415

391:                                              ; preds = %386
  %392 = add nuw nsw i64 %389, 1
  store i64 %392, ptr %6, align 8
  %393 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %389
  store i8 %387, ptr %393, align 1
  %394 = load i64, ptr %6, align 8
  %395 = icmp ult i64 %394, 511
  br i1 %395, label %396, label %415

396:                                              ; preds = %391
  %397 = getelementptr inbounds i8, ptr %388, i64 1
  %398 = load i8, ptr %397, align 1
  %399 = add nuw nsw i64 %394, 1
  store i64 %399, ptr %6, align 8
  %400 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %394
  store i8 %398, ptr %400, align 1
  %401 = load i64, ptr %6, align 8
  %402 = icmp ult i64 %401, 511
  br i1 %402, label %403, label %415

403:                                              ; preds = %396
  %404 = getelementptr inbounds i8, ptr %388, i64 2
  %405 = load i8, ptr %404, align 1
  %406 = getelementptr inbounds i8, ptr %388, i64 3
  %407 = add nuw nsw i64 %401, 1
  store i64 %407, ptr %6, align 8
  %408 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %401
  store i8 %405, ptr %408, align 1
  %409 = load i8, ptr %406, align 1
  %410 = icmp eq ptr %406, getelementptr inbounds ([22 x i8], ptr @.str.13, i64 0, i64 21)
  br i1 %410, label %411, label %386, !llvm.loop !4

411:                                              ; preds = %403
  %412 = load i64, ptr %6, align 8
  br label %415

413:                                              ; preds = %207, %189
  %414 = phi ptr [ %208, %207 ], [ %192, %189 ]
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %9) #9
  call void @llvm.lifetime.end.p0(i64 64, ptr nonnull %8) #9
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %7) #9
  br label %448

415:                                              ; preds = %386, %391, %396, %411
  %416 = phi i64 [ %412, %411 ], [ %389, %386 ], [ %394, %391 ], [ %401, %396 ]
  %417 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %416
  store i8 0, ptr %417, align 1
  %418 = load i32, ptr %150, align 8
  %419 = zext i32 %418 to i64
  call fastcc void @add_shape(ptr noundef nonnull %6, ptr noundef nonnull %151, i64 noundef %419) #10
  %420 = load ptr, ptr %168, align 8
  %421 = call ptr %420(i32 noundef 2, ptr noundef nonnull %152) #8
  call void @llvm.lifetime.end.p0(i64 520, ptr nonnull %6) #9
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %9) #9
  call void @llvm.lifetime.end.p0(i64 64, ptr nonnull %8) #9
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %7) #9
  %422 = icmp eq ptr %421, null
  br i1 %422, label %423, label %448

423:                                              ; preds = %415, %222
  %424 = getelementptr inbounds %struct.ort_api, ptr %168, i64 0, i32 6
  %425 = load ptr, ptr %424, align 8
  %426 = load ptr, ptr %10, align 8
  %427 = call ptr %425(ptr noundef %426, ptr noundef nonnull %12) #8
  %428 = icmp eq ptr %427, null
  br i1 %428, label %429, label %448

429:                                              ; preds = %423
  %430 = load ptr, ptr %20, align 8
  %431 = getelementptr inbounds %struct.model_buffer, ptr %430, i64 %166
  %432 = load ptr, ptr %12, align 8
  %433 = load i64, ptr %153, align 8
  %434 = ptrtoint ptr %432 to i64
  %435 = load i32, ptr %154, align 4
  %436 = zext i32 %435 to i64
  %437 = urem i64 %434, %436
  %438 = icmp eq i64 %437, 0
  %439 = load ptr, ptr %22, align 8
  %440 = select i1 %438, ptr %432, ptr %439
  %441 = add i64 %433, 63
  %442 = and i64 %441, -64
  %443 = getelementptr inbounds i8, ptr %439, i64 %442
  store ptr %443, ptr %22, align 8
  store ptr %440, ptr %431, align 8
  %444 = getelementptr inbounds i8, ptr %431, i64 8
  store i64 %433, ptr %444, align 8
  %445 = load ptr, ptr %12, align 8
  %446 = icmp eq ptr %440, %445
  br i1 %446, label %450, label %447

447:                                              ; preds = %429
  call void @llvm.memcpy.p0.p0.i64(ptr align 1 %440, ptr align 1 %445, i64 %433, i1 false)
  br label %450

448:                                              ; preds = %423, %415, %178, %413
  %449 = phi ptr [ %414, %413 ], [ %427, %423 ], [ %421, %415 ], [ %182, %178 ]
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %12) #9
  call void @llvm.lifetime.end.p0(i64 112, ptr nonnull %11) #9
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %10) #9
  br label %574

450:                                              ; preds = %447, %429, %187
  %451 = phi ptr [ %188, %187 ], [ null, %447 ], [ null, %429 ]
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %12) #9
  call void @llvm.lifetime.end.p0(i64 112, ptr nonnull %11) #9
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %10) #9
  %452 = add nuw nsw i64 %166, 1
  %453 = icmp eq ptr %451, null
  %454 = icmp ult i64 %452, %136
  %455 = select i1 %453, i1 %454, i1 false
  br i1 %455, label %165, label %155, !llvm.loop !11

456:                                              ; preds = %507, %155
  %457 = phi ptr [ %156, %155 ], [ %508, %507 ]
  %458 = phi i1 [ %157, %155 ], [ %510, %507 ]
  br i1 %458, label %513, label %574

459:                                              ; preds = %507, %160
  %460 = phi i64 [ 0, %160 ], [ %509, %507 ]
  %461 = load ptr, ptr %15, align 8
  %462 = load ptr, ptr %461, align 8
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %3) #9
  store ptr null, ptr %3, align 8
  call void @llvm.lifetime.start.p0(i64 112, ptr nonnull %4) #9
  %463 = trunc i64 %460 to i32
  %464 = call i32 @model_output(i32 noundef %463, ptr noundef null, ptr noundef nonnull %4) #8
  %465 = getelementptr inbounds %struct.ort_api, ptr %462, i64 0, i32 22
  %466 = load ptr, ptr %465, align 8
  %467 = load ptr, ptr %17, align 8
  %468 = load i32, ptr %162, align 8
  %469 = zext i32 %468 to i64
  %470 = call ptr %466(ptr noundef %467, i64 noundef %460, ptr noundef nonnull %161, i64 noundef %469, ptr noundef nonnull %3) #8
  %471 = icmp eq ptr %470, null
  br i1 %471, label %472, label %505

472:                                              ; preds = %459
  %473 = load ptr, ptr %3, align 8
  %474 = icmp eq ptr %473, null
  br i1 %474, label %475, label %477

475:                                              ; preds = %472
  %476 = call fastcc ptr @fail(ptr noundef nonnull %462, i32 noundef 2, ptr noundef nonnull @.str.18) #10
  br label %507

477:                                              ; preds = %472
  %478 = getelementptr inbounds %struct.ort_api, ptr %462, i64 0, i32 6
  %479 = load ptr, ptr %478, align 8
  %480 = load ptr, ptr %21, align 8
  %481 = getelementptr inbounds ptr, ptr %480, i64 %460
  %482 = call ptr %479(ptr noundef nonnull %473, ptr noundef %481) #8
  %483 = icmp eq ptr %482, null
  br i1 %483, label %484, label %505

484:                                              ; preds = %477
  %485 = load ptr, ptr %20, align 8
  %486 = load i32, ptr %24, align 4
  %487 = add i32 %486, %463
  %488 = zext i32 %487 to i64
  %489 = getelementptr inbounds %struct.model_buffer, ptr %485, i64 %488
  %490 = load ptr, ptr %21, align 8
  %491 = getelementptr inbounds ptr, ptr %490, i64 %460
  %492 = load ptr, ptr %491, align 8
  %493 = load i64, ptr %163, align 8
  %494 = ptrtoint ptr %492 to i64
  %495 = load i32, ptr %164, align 4
  %496 = zext i32 %495 to i64
  %497 = urem i64 %494, %496
  %498 = icmp eq i64 %497, 0
  %499 = load ptr, ptr %22, align 8
  %500 = select i1 %498, ptr %492, ptr %499
  %501 = add i64 %493, 63
  %502 = and i64 %501, -64
  %503 = getelementptr inbounds i8, ptr %499, i64 %502
  store ptr %503, ptr %22, align 8
  store ptr %500, ptr %489, align 8
  %504 = getelementptr inbounds i8, ptr %489, i64 8
  store i64 %493, ptr %504, align 8
  br label %507

505:                                              ; preds = %477, %459
  %506 = phi ptr [ %482, %477 ], [ %470, %459 ]
  call void @llvm.lifetime.end.p0(i64 112, ptr nonnull %4) #9
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %3) #9
  br label %574

507:                                              ; preds = %484, %475
  %508 = phi ptr [ null, %484 ], [ %476, %475 ]
  call void @llvm.lifetime.end.p0(i64 112, ptr nonnull %4) #9
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %3) #9
  %509 = add nuw nsw i64 %460, 1
  %510 = icmp eq ptr %508, null
  %511 = icmp ult i64 %509, %138
  %512 = select i1 %510, i1 %511, i1 false
  br i1 %512, label %459, label %456, !llvm.loop !12

513:                                              ; preds = %456
  %514 = load ptr, ptr %22, align 8
  %515 = load ptr, ptr %20, align 8
  %516 = getelementptr inbounds %struct.model_buffer, ptr %515, i64 %136
  %517 = call i32 @model_run(ptr noundef null, ptr noundef %515, ptr noundef %516, ptr %514, i64 %44, ptr noundef nonnull %13) #8
  %518 = load ptr, ptr %23, align 8
  %519 = icmp eq ptr %518, null
  br i1 %519, label %520, label %574

520:                                              ; preds = %513
  %521 = icmp eq i32 %517, 0
  br i1 %521, label %522, label %529

522:                                              ; preds = %520
  %523 = icmp eq i32 %135, 0
  br i1 %523, label %574, label %524

524:                                              ; preds = %522
  %525 = and i64 %138, 1
  %526 = icmp eq i32 %135, 1
  br i1 %526, label %561, label %527

527:                                              ; preds = %524
  %528 = and i64 %138, 4294967294
  br label %534

529:                                              ; preds = %520
  %530 = load ptr, ptr %15, align 8
  %531 = load ptr, ptr %530, align 8
  %532 = call ptr @model_status_text(i32 noundef %517) #8
  %533 = call fastcc ptr @fail(ptr noundef %531, i32 noundef 6, ptr noundef %532) #10
  br label %574

534:                                              ; preds = %557, %527
  %535 = phi i64 [ 0, %527 ], [ %558, %557 ]
  %536 = phi i64 [ 0, %527 ], [ %559, %557 ]
  %537 = getelementptr inbounds %struct.model_buffer, ptr %516, i64 %535
  %538 = load ptr, ptr %537, align 8
  %539 = load ptr, ptr %21, align 8
  %540 = getelementptr inbounds ptr, ptr %539, i64 %535
  %541 = load ptr, ptr %540, align 8
  %542 = icmp eq ptr %538, %541
  br i1 %542, label %546, label %543

543:                                              ; preds = %534
  %544 = getelementptr inbounds %struct.model_buffer, ptr %537, i64 0, i32 1
  %545 = load i64, ptr %544, align 8
  call void @llvm.memcpy.p0.p0.i64(ptr align 1 %541, ptr align 1 %538, i64 %545, i1 false)
  br label %546

546:                                              ; preds = %543, %534
  %547 = or i64 %535, 1
  %548 = getelementptr inbounds %struct.model_buffer, ptr %516, i64 %547
  %549 = load ptr, ptr %548, align 8
  %550 = load ptr, ptr %21, align 8
  %551 = getelementptr inbounds ptr, ptr %550, i64 %547
  %552 = load ptr, ptr %551, align 8
  %553 = icmp eq ptr %549, %552
  br i1 %553, label %557, label %554

554:                                              ; preds = %546
  %555 = getelementptr inbounds %struct.model_buffer, ptr %548, i64 0, i32 1
  %556 = load i64, ptr %555, align 8
  call void @llvm.memcpy.p0.p0.i64(ptr align 1 %552, ptr align 1 %549, i64 %556, i1 false)
  br label %557

557:                                              ; preds = %554, %546
  %558 = add nuw nsw i64 %535, 2
  %559 = add i64 %536, 2
  %560 = icmp eq i64 %559, %528
  br i1 %560, label %561, label %534, !llvm.loop !13

561:                                              ; preds = %557, %524
  %562 = phi i64 [ 0, %524 ], [ %558, %557 ]
  %563 = icmp eq i64 %525, 0
  br i1 %563, label %574, label %564

564:                                              ; preds = %561
  %565 = getelementptr inbounds %struct.model_buffer, ptr %516, i64 %562
  %566 = load ptr, ptr %565, align 8
  %567 = load ptr, ptr %21, align 8
  %568 = getelementptr inbounds ptr, ptr %567, i64 %562
  %569 = load ptr, ptr %568, align 8
  %570 = icmp eq ptr %566, %569
  br i1 %570, label %574, label %571

571:                                              ; preds = %564
  %572 = getelementptr inbounds %struct.model_buffer, ptr %565, i64 0, i32 1
  %573 = load i64, ptr %572, align 8
  call void @llvm.memcpy.p0.p0.i64(ptr align 1 %569, ptr align 1 %566, i64 %573, i1 false)
  br label %574

574:                                              ; preds = %561, %571, %564, %448, %456, %505, %513, %522, %529
  %575 = phi ptr [ %457, %456 ], [ %533, %529 ], [ %518, %513 ], [ null, %522 ], [ %506, %505 ], [ %449, %448 ], [ null, %564 ], [ null, %571 ], [ null, %561 ]
  call void @llvm.lifetime.end.p0(i64 24, ptr nonnull %13) #9
  %576 = ptrtoint ptr %127 to i64
  %577 = cmpxchg ptr %73, i64 0, i64 %576 acq_rel monotonic, align 8
  %578 = extractvalue { i64, i1 } %577, 1
  br i1 %578, label %618, label %579

579:                                              ; preds = %574
  %580 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3, i64 1
  %581 = cmpxchg ptr %580, i64 0, i64 %576 acq_rel monotonic, align 8
  %582 = extractvalue { i64, i1 } %581, 1
  br i1 %582, label %618, label %583

583:                                              ; preds = %579
  %584 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3, i64 2
  %585 = cmpxchg ptr %584, i64 0, i64 %576 acq_rel monotonic, align 8
  %586 = extractvalue { i64, i1 } %585, 1
  br i1 %586, label %618, label %587

587:                                              ; preds = %583
  %588 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3, i64 3
  %589 = cmpxchg ptr %588, i64 0, i64 %576 acq_rel monotonic, align 8
  %590 = extractvalue { i64, i1 } %589, 1
  br i1 %590, label %618, label %591

591:                                              ; preds = %587
  %592 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3, i64 4
  %593 = cmpxchg ptr %592, i64 0, i64 %576 acq_rel monotonic, align 8
  %594 = extractvalue { i64, i1 } %593, 1
  br i1 %594, label %618, label %595

595:                                              ; preds = %591
  %596 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3, i64 5
  %597 = cmpxchg ptr %596, i64 0, i64 %576 acq_rel monotonic, align 8
  %598 = extractvalue { i64, i1 } %597, 1
  br i1 %598, label %618, label %599

599:                                              ; preds = %595
  %600 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3, i64 6
  %601 = cmpxchg ptr %600, i64 0, i64 %576 acq_rel monotonic, align 8
  %602 = extractvalue { i64, i1 } %601, 1
  br i1 %602, label %618, label %603

603:                                              ; preds = %599
  %604 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3, i64 7
  %605 = cmpxchg ptr %604, i64 0, i64 %576 acq_rel monotonic, align 8
  %606 = extractvalue { i64, i1 } %605, 1
  br i1 %606, label %618, label %607

607:                                              ; preds = %603
  %608 = load ptr, ptr %0, align 8
  %609 = getelementptr inbounds %struct.ort_api, ptr %608, i64 0, i32 14
  %610 = load ptr, ptr %609, align 8
  %611 = load ptr, ptr %74, align 8
  %612 = call ptr %610(ptr noundef %611, ptr noundef nonnull %127) #8
  %613 = icmp eq ptr %612, null
  br i1 %613, label %618, label %614

614:                                              ; preds = %607
  %615 = load ptr, ptr %0, align 8
  %616 = getelementptr inbounds %struct.ort_api, ptr %615, i64 0, i32 24
  %617 = load ptr, ptr %616, align 8
  call void %617(ptr noundef nonnull %612) #8
  br label %618

618:                                              ; preds = %614, %607, %603, %599, %595, %591, %587, %583, %579, %574, %107, %122, %66
  %619 = phi ptr [ %70, %66 ], [ %124, %122 ], [ %105, %107 ], [ %575, %574 ], [ %575, %579 ], [ %575, %583 ], [ %575, %587 ], [ %575, %591 ], [ %575, %595 ], [ %575, %599 ], [ %575, %603 ], [ %575, %607 ], [ %575, %614 ]
  call void @llvm.lifetime.end.p0(i64 104, ptr nonnull %15) #9
  ret ptr %619
}

declare i32 @model_input(i32 noundef, ptr noundef, ptr noundef) local_unnamed_addr #3

declare i32 @model_output(i32 noundef, ptr noundef, ptr noundef) local_unnamed_addr #3

declare i32 @model_init() local_unnamed_addr #3

; Function Attrs: nounwind
define internal fastcc ptr @fail(ptr nocapture noundef readonly %0, i32 noundef %1, ptr nocapture noundef readonly %2) unnamed_addr #0 {
  %4 = alloca %struct.model_description, align 8
  %5 = alloca %struct.text, align 8
  call void @llvm.lifetime.start.p0(i64 520, ptr nonnull %5) #9
  call void @llvm.lifetime.start.p0(i64 56, ptr nonnull %4)
  store i64 0, ptr %5, align 8
  %6 = call i32 @model_describe(ptr noundef nonnull %4) #8
  %7 = load ptr, ptr %4, align 8
  %8 = load i8, ptr %7, align 1
  %9 = icmp eq i8 %8, 0
  br i1 %9, label %23, label %10

10:                                               ; preds = %3, %15
  %11 = phi i8 [ %19, %15 ], [ %8, %3 ]
  %12 = phi ptr [ %16, %15 ], [ %7, %3 ]
  %13 = load i64, ptr %5, align 8
  %14 = icmp ult i64 %13, 511
  br i1 %14, label %15, label %23

15:                                               ; preds = %10
  %16 = getelementptr inbounds i8, ptr %12, i64 1
  %17 = add nuw nsw i64 %13, 1
  store i64 %17, ptr %5, align 8
  %18 = getelementptr inbounds %struct.text, ptr %5, i64 0, i32 1, i64 %13
  store i8 %11, ptr %18, align 1
  %19 = load i8, ptr %16, align 1
  %20 = icmp eq i8 %19, 0
  br i1 %20, label %21, label %10, !llvm.loop !4

21:                                               ; preds = %15
  %22 = load i64, ptr %5, align 8
  br label %23

23:                                               ; preds = %10, %21, %3
  %24 = phi i64 [ 0, %3 ], [ %22, %21 ], [ %13, %10 ]
  %25 = getelementptr inbounds %struct.text, ptr %5, i64 0, i32 1, i64 %24
  store i8 0, ptr %25, align 1
  %26 = load i64, ptr %5, align 8
  %27 = icmp ult i64 %26, 511
  br i1 %27, label %28, label %37

28:                                               ; preds = %23
  %29 = add nuw nsw i64 %26, 1
  store i64 %29, ptr %5, align 8
  %30 = getelementptr inbounds %struct.text, ptr %5, i64 0, i32 1, i64 %26
  store i8 58, ptr %30, align 1
  %31 = load i64, ptr %5, align 8
  %32 = icmp ult i64 %31, 511
  br i1 %32, label %33, label %37

33:                                               ; preds = %28
  %34 = add nuw nsw i64 %31, 1
  store i64 %34, ptr %5, align 8
  %35 = getelementptr inbounds %struct.text, ptr %5, i64 0, i32 1, i64 %31
  store i8 32, ptr %35, align 1
  %36 = load i64, ptr %5, align 8
  br label %37

37:                                               ; preds = %23, %28, %33
  %38 = phi i64 [ %36, %33 ], [ %31, %28 ], [ %26, %23 ]
  %39 = getelementptr inbounds %struct.text, ptr %5, i64 0, i32 1, i64 %38
  store i8 0, ptr %39, align 1
  call void @llvm.lifetime.end.p0(i64 56, ptr nonnull %4)
  %40 = load i8, ptr %2, align 1
  %41 = icmp eq i8 %40, 0
  br i1 %41, label %53, label %42

42:                                               ; preds = %37, %47
  %43 = phi i8 [ %51, %47 ], [ %40, %37 ]
  %44 = phi ptr [ %48, %47 ], [ %2, %37 ]
  %45 = load i64, ptr %5, align 8
  %46 = icmp ult i64 %45, 511
  br i1 %46, label %47, label %53

47:                                               ; preds = %42
  %48 = getelementptr inbounds i8, ptr %44, i64 1
  %49 = add nuw nsw i64 %45, 1
  store i64 %49, ptr %5, align 8
  %50 = getelementptr inbounds %struct.text, ptr %5, i64 0, i32 1, i64 %45
  store i8 %43, ptr %50, align 1
  %51 = load i8, ptr %48, align 1
  %52 = icmp eq i8 %51, 0
  br i1 %52, label %53, label %42, !llvm.loop !4

53:                                               ; preds = %42, %47, %37
  %54 = load i64, ptr %5, align 8
  %55 = getelementptr inbounds %struct.text, ptr %5, i64 0, i32 1, i64 %54
  store i8 0, ptr %55, align 1
  %56 = load ptr, ptr %0, align 8
  %57 = getelementptr inbounds %struct.text, ptr %5, i64 0, i32 1
  %58 = call ptr %56(i32 noundef %1, ptr noundef nonnull %57) #8
  call void @llvm.lifetime.end.p0(i64 520, ptr nonnull %5) #9
  ret ptr %58
}

declare ptr @model_status_text(i32 noundef) local_unnamed_addr #3

; Function Attrs: mustprogress nocallback nofree nounwind willreturn memory(argmem: readwrite)
declare void @llvm.memcpy.p0.p0.i64(ptr noalias nocapture writeonly, ptr noalias nocapture readonly, i64, i1 immarg) #5

declare i64 @model_workspace_bytes(ptr noundef, i32 noundef) local_unnamed_addr #3

; Function Attrs: nounwind
define internal void @launch(ptr nocapture noundef %0, ptr noundef %1, ptr noundef %2, i32 noundef %3) #0 {
  %5 = alloca %struct.job, align 8
  call void @llvm.lifetime.start.p0(i64 16, ptr nonnull %5) #9
  store ptr %1, ptr %5, align 8
  %6 = getelementptr inbounds %struct.job, ptr %5, i64 0, i32 1
  store ptr %2, ptr %6, align 8
  %7 = load ptr, ptr %0, align 8
  %8 = load ptr, ptr %7, align 8
  %9 = getelementptr inbounds %struct.ort_api, ptr %8, i64 0, i32 30
  %10 = load ptr, ptr %9, align 8
  %11 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 1
  %12 = load ptr, ptr %11, align 8
  %13 = zext i32 %3 to i64
  %14 = call ptr %10(ptr noundef %12, ptr noundef nonnull @run_task, i64 noundef %13, i64 noundef 0, ptr noundef nonnull %5) #8
  %15 = icmp eq ptr %14, null
  br i1 %15, label %26, label %16

16:                                               ; preds = %4
  %17 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 6
  %18 = load ptr, ptr %17, align 8
  %19 = icmp eq ptr %18, null
  br i1 %19, label %25, label %20

20:                                               ; preds = %16
  %21 = load ptr, ptr %0, align 8
  %22 = load ptr, ptr %21, align 8
  %23 = getelementptr inbounds %struct.ort_api, ptr %22, i64 0, i32 24
  %24 = load ptr, ptr %23, align 8
  call void %24(ptr noundef nonnull %14) #8
  br label %26

25:                                               ; preds = %16
  store ptr %14, ptr %17, align 8
  br label %26

26:                                               ; preds = %4, %25, %20
  call void @llvm.lifetime.end.p0(i64 16, ptr nonnull %5) #9
  ret void
}

declare i32 @model_run(ptr noundef, ptr noundef, ptr noundef, ptr, i64, ptr noundef) local_unnamed_addr #3

; Function Attrs: nounwind
define internal void @run_task(ptr nocapture noundef readonly %0, i64 noundef %1) #0 {
  %3 = load ptr, ptr %0, align 8
  %4 = getelementptr inbounds %struct.job, ptr %0, i64 0, i32 1
  %5 = load ptr, ptr %4, align 8
  %6 = trunc i64 %1 to i32
  tail call void %3(ptr noundef %5, i32 noundef %6) #8
  ret void
}

; Function Attrs: nofree nosync nounwind memory(argmem: readwrite)
define internal fastcc void @add_shape(ptr nocapture noundef %0, ptr nocapture noundef readonly %1, i64 noundef %2) unnamed_addr #6 {
  %4 = alloca [24 x i8], align 16
  %5 = load i64, ptr %0, align 8
  %6 = icmp ult i64 %5, 511
  br i1 %6, label %7, label %11

7:                                                ; preds = %3
  %8 = add nuw nsw i64 %5, 1
  store i64 %8, ptr %0, align 8
  %9 = getelementptr inbounds %struct.text, ptr %0, i64 0, i32 1, i64 %5
  store i8 91, ptr %9, align 1
  %10 = load i64, ptr %0, align 8
  br label %11

11:                                               ; preds = %7, %3
  %12 = phi i64 [ %10, %7 ], [ %5, %3 ]
  %13 = getelementptr inbounds %struct.text, ptr %0, i64 0, i32 1, i64 %12
  store i8 0, ptr %13, align 1
  %14 = icmp eq i64 %2, 0
  br i1 %14, label %19, label %15

15:                                               ; preds = %11
  %16 = getelementptr inbounds i8, ptr %4, i64 23
  %17 = add i64 %2, -1
  %18 = tail call i64 @llvm.umin.i64(i64 %17, i64 7)
  br label %38

19:                                               ; preds = %89, %11
  %20 = icmp ugt i64 %2, 8
  %21 = select i1 %20, ptr @.str.16, ptr @.str.17
  %22 = load i8, ptr %21, align 1
  %23 = icmp eq i8 %22, 0
  br i1 %23, label %35, label %24

24:                                               ; preds = %19, %29
  %25 = phi i8 [ %33, %29 ], [ %22, %19 ]
  %26 = phi ptr [ %30, %29 ], [ %21, %19 ]
  %27 = load i64, ptr %0, align 8
  %28 = icmp ult i64 %27, 511
  br i1 %28, label %29, label %35

29:                                               ; preds = %24
  %30 = getelementptr inbounds i8, ptr %26, i64 1
  %31 = add nuw nsw i64 %27, 1
  store i64 %31, ptr %0, align 8
  %32 = getelementptr inbounds %struct.text, ptr %0, i64 0, i32 1, i64 %27
  store i8 %25, ptr %32, align 1
  %33 = load i8, ptr %30, align 1
  %34 = icmp eq i8 %33, 0
  br i1 %34, label %35, label %24, !llvm.loop !4

35:                                               ; preds = %24, %29, %19
  %36 = load i64, ptr %0, align 8
  %37 = getelementptr inbounds %struct.text, ptr %0, i64 0, i32 1, i64 %36
  store i8 0, ptr %37, align 1
  ret void

38:                                               ; preds = %15, %89
  %39 = phi i64 [ 0, %15 ], [ %92, %89 ]
  %40 = icmp eq i64 %39, 0
  br i1 %40, label %56, label %41

41:                                               ; preds = %38
  %42 = load i64, ptr %0, align 8
  %43 = icmp ult i64 %42, 511
  br i1 %43, label %44, label %53

44:                                               ; preds = %41
  %45 = add nuw nsw i64 %42, 1
  store i64 %45, ptr %0, align 8
  %46 = getelementptr inbounds %struct.text, ptr %0, i64 0, i32 1, i64 %42
  store i8 44, ptr %46, align 1
  %47 = load i64, ptr %0, align 8
  %48 = icmp ult i64 %47, 511
  br i1 %48, label %49, label %53

49:                                               ; preds = %44
  %50 = add nuw nsw i64 %47, 1
  store i64 %50, ptr %0, align 8
  %51 = getelementptr inbounds %struct.text, ptr %0, i64 0, i32 1, i64 %47
  store i8 32, ptr %51, align 1
  %52 = load i64, ptr %0, align 8
  br label %53

53:                                               ; preds = %49, %44, %41
  %54 = phi i64 [ %52, %49 ], [ %47, %44 ], [ %42, %41 ]
  %55 = getelementptr inbounds %struct.text, ptr %0, i64 0, i32 1, i64 %54
  store i8 0, ptr %55, align 1
  br label %56

56:                                               ; preds = %53, %38
  %57 = getelementptr inbounds i64, ptr %1, i64 %39
  %58 = load i64, ptr %57, align 8
  call void @llvm.lifetime.start.p0(i64 24, ptr nonnull %4) #9
  %59 = tail call i64 @llvm.abs.i64(i64 %58, i1 false)
  store i8 0, ptr %16, align 1
  br label %60

60:                                               ; preds = %60, %56
  %61 = phi ptr [ %16, %56 ], [ %66, %60 ]
  %62 = phi i64 [ %59, %56 ], [ %67, %60 ]
  %63 = urem i64 %62, 10
  %64 = trunc i64 %63 to i8
  %65 = or i8 %64, 48
  %66 = getelementptr inbounds i8, ptr %61, i64 -1
  store i8 %65, ptr %66, align 1
  %67 = udiv i64 %62, 10
  %68 = icmp ult i64 %62, 10
  br i1 %68, label %69, label %60, !llvm.loop !7

69:                                               ; preds = %60
  %70 = icmp slt i64 %58, 0
  br i1 %70, label %71, label %73

71:                                               ; preds = %69
  %72 = getelementptr inbounds i8, ptr %61, i64 -2
  store i8 45, ptr %72, align 1
  br label %73

73:                                               ; preds = %71, %69
  %74 = phi i8 [ %65, %69 ], [ 45, %71 ]
  %75 = phi ptr [ %66, %69 ], [ %72, %71 ]
  br label %76

76:                                               ; preds = %73, %81
  %77 = phi i8 [ %85, %81 ], [ %74, %73 ]
  %78 = phi ptr [ %82, %81 ], [ %75, %73 ]
  %79 = load i64, ptr %0, align 8
  %80 = icmp ult i64 %79, 511
  br i1 %80, label %81, label %89

81:                                               ; preds = %76
  %82 = getelementptr inbounds i8, ptr %78, i64 1
  %83 = add nuw nsw i64 %79, 1
  store i64 %83, ptr %0, align 8
  %84 = getelementptr inbounds %struct.text, ptr %0, i64 0, i32 1, i64 %79
  store i8 %77, ptr %84, align 1
  %85 = load i8, ptr %82, align 1
  %86 = icmp eq i8 %85, 0
  br i1 %86, label %87, label %76, !llvm.loop !4

87:                                               ; preds = %81
  %88 = load i64, ptr %0, align 8
  br label %89

89:                                               ; preds = %76, %87
  %90 = phi i64 [ %88, %87 ], [ %79, %76 ]
  %91 = getelementptr inbounds %struct.text, ptr %0, i64 0, i32 1, i64 %90
  store i8 0, ptr %91, align 1
  call void @llvm.lifetime.end.p0(i64 24, ptr nonnull %4) #9
  %92 = add nuw nsw i64 %39, 1
  %93 = icmp eq i64 %39, %18
  br i1 %93, label %19, label %38, !llvm.loop !14
}

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare i64 @llvm.abs.i64(i64, i1 immarg) #7

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare i64 @llvm.umin.i64(i64, i64) #7

attributes #0 = { nounwind "min-legal-vector-width"="0" "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #1 = { mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite) }
attributes #2 = { mustprogress nocallback nofree nounwind willreturn memory(argmem: write) }
attributes #3 = { "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #4 = { mustprogress nofree norecurse nosync nounwind willreturn memory(none) "min-legal-vector-width"="0" "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #5 = { mustprogress nocallback nofree nounwind willreturn memory(argmem: readwrite) }
attributes #6 = { nofree nosync nounwind memory(argmem: readwrite) "min-legal-vector-width"="0" "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #7 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #8 = { nobuiltin nounwind "no-builtins" }
attributes #9 = { nounwind }
attributes #10 = { nobuiltin "no-builtins" }

!llvm.module.flags = !{!0, !1}

!0 = !{i32 1, !"wchar_size", i32 4}
!1 = !{i32 8, !"PIC Level", i32 2}
!2 = distinct !{!2, !3}
!3 = !{!"llvm.loop.mustprogress"}
!4 = distinct !{!4, !3}
!5 = distinct !{!5, !3}
!6 = distinct !{!6, !3}
!7 = distinct !{!7, !3}
!8 = distinct !{!8, !3}
!9 = distinct !{!9, !3}
!10 = distinct !{!10, !3}
!11 = distinct !{!11, !3}
!12 = distinct !{!12, !3}
!13 = distinct !{!13, !3}
!14 = distinct !{!14, !3}
